import subprocess
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Assignment, ImportJob, Rater, Rating
from scoring.metrics.state import read_figures
from scoring.models import ApiBatch, Reservation, Run, Worker
from scoring.runs.claims import claim_batch
from scoring.workers.presence import GONE_AFTER_S, sign
from tests.factories import make_rater, make_summary
from tests.scoring.claims import claimed, make_run, record
from tests.scoring.processes import PATIENCE_S, start, surroundings

pytestmark = [pytest.mark.django_db, pytest.mark.database]

HOUR = timedelta(hours=1)
UNREADABLE = """
import os
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "touchstone.settings")
from django.utils import timezone
from scoring.metrics.state import read_figures
for family in read_figures(timezone.now()):
    print(family.name, *(sample.value for sample in family.samples))
"""


def figures(now=None) -> dict[tuple[str, ...], float]:
    """Return the figures by name and labels."""
    return {
        (sample.name.removeprefix("touchstone_"), *sample.labels.values()): sample.value
        for family in read_figures(now or timezone.now())
        for sample in family.samples
    }


def make_rating(rater: Rater, **changes: object) -> Rating:
    values = {"created_at": timezone.now(), "completed_at": timezone.now(), **changes}
    return Rating.objects.create(rater=rater, summary=make_summary(rater.project), **values)


def test_an_empty_database_has_all_figures_at_zero():
    found = figures()
    assert found.pop(("database_up",)) == 1
    assert len(found) > 25
    assert set(found.values()) == {0}


def test_batches_wait_are_held_and_are_lost(monkeypatch):
    run = make_run(monkeypatch, batches=4)
    record(claimed(run))
    claimed(run)
    found = figures()
    assert found["work_waiting", "batch"] == 2
    assert found["work_leased", "batch"] == 1
    assert found["work_lost", "batch"] == 0
    later = figures(timezone.now() + HOUR)
    assert later["work_waiting", "batch"] == 3
    assert later["work_leased", "batch"] == 0
    assert later["work_lost", "batch"] == 1
    assert found["runs", "running"] == 1
    assert found["runs", "failed"] == 0


def test_batches_wait_since_anything_happened_to_their_run(monkeypatch):
    run = make_run(monkeypatch, batches=4)
    now = timezone.now()
    Run.objects.update(created_at=now - 3 * HOUR)
    assert figures(now)["work_waiting_seconds", "batch"] == 3 * 3600
    claim = claim_batch(run.pk, now - 2 * HOUR)
    assert claim is not None
    assert figures(now)["work_waiting_seconds", "batch"] == pytest.approx(2 * 3600 - 60)
    record(claimed(run))
    assert figures(now)["work_waiting_seconds", "batch"] == pytest.approx(0, abs=60)


def test_batches_do_not_wait_while_they_may_not_be_claimed(monkeypatch):
    run = make_run(monkeypatch, batches=2)
    run.batches.update(not_before=timezone.now() + HOUR)
    assert figures()["work_waiting", "batch"] == 0
    run.batches.update(not_before=None)
    ApiBatch.objects.create(run=run, not_before=timezone.now() + HOUR)
    found = figures()
    assert found["work_waiting", "batch"] == 0
    assert found["work_waiting", "api_batch"] == 0
    assert figures(timezone.now() + 2 * HOUR)["work_waiting", "api_batch"] == 1


def test_ended_runs_have_no_work(monkeypatch):
    run = make_run(monkeypatch)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.CANCELLED)
    found = figures()
    assert found["work_waiting", "batch"] == 0
    assert found["runs", "cancelled"] == 1


def test_imports_wait_since_they_are_free(project):
    now = timezone.now()
    job, other = (ImportJob.objects.create(project=project, format="articles") for _ in range(2))
    ImportJob.objects.update(created_at=now - 3 * HOUR)
    found = figures(now)
    assert found["work_waiting", "import"] == 2
    assert found["work_waiting_seconds", "import"] == 3 * 3600
    ImportJob.objects.filter(pk=job.pk).update(leased_until=now - HOUR, token="a")
    ImportJob.objects.filter(pk=other.pk).update(finished_at=now)
    found = figures(now)
    assert found["work_waiting", "import"] == 1
    assert found["work_lost", "import"] == 1
    assert found["work_waiting_seconds", "import"] == 3600


def test_leases_of_raters(rater):
    now = timezone.now()
    for hours in (1, 2):
        Assignment.objects.create(
            rater=rater,
            summary=make_summary(rater.project),
            stage_opened_at=now - hours * HOUR,
            leased_until=now + HOUR,
        )
    Assignment.objects.create(
        rater=rater,
        summary=make_summary(rater.project),
        stage_opened_at=now - 5 * HOUR,
        leased_until=now - HOUR,
    )
    found = figures(now)
    assert found["rater_leases",] == 2
    assert found["rater_leases_oldest_seconds",] == 2 * 3600


def test_ratings_of_the_last_hour(project, rater):
    now = timezone.now()
    make_rating(rater)
    make_rating(make_rater(project))
    make_rating(rater, completed_at=None)
    make_rating(rater, completed_at=now - 2 * HOUR)
    make_rating(rater, is_check=True)
    assert figures(now)["ratings_last_hour",] == 2


def test_money(monkeypatch):
    run = make_run(monkeypatch)
    Run.objects.update(spent="1.25")
    Reservation.objects.create(run=run, holder="a", amount="0.5", until=timezone.now())
    found = figures()
    assert found["money_spent_dollars",] == 1.25
    assert found["money_reserved_dollars",] == 0.5


def test_workers_by_queue():
    sign("one", ["cpu", "llm"])
    sign("two", ["cpu"])
    now = timezone.now()
    Worker.objects.filter(name="one").update(seen_at=now - timedelta(seconds=GONE_AFTER_S + 1))
    found = figures(now)
    assert found["workers", "cpu"] == 1
    assert found["workers", "llm"] == 0
    assert found["workers", "gpu"] == 0
    assert found["worker_seen_seconds", "llm"] == GONE_AFTER_S + 1
    assert ("worker_seen_seconds", "gpu") not in found


@pytest.mark.parametrize("path", ["/proc/no/folder/data.sqlite3", "{folder}/without_tables.sqlite3"])
def test_a_database_that_cannot_be_read_is_not_up(tmp_path, path):
    variables = surroundings(tmp_path) | {"DATABASE_URL": f"sqlite:///{path.format(folder=tmp_path)}"}
    process = start(variables, UNREADABLE, stdout=subprocess.PIPE, text=True)
    assert process.communicate(timeout=PATIENCE_S)[0] == "touchstone_database_up 0\n"
