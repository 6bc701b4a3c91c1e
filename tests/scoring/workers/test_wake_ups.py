"""Wake-ups for workers, sent by the sweep and handled by the tasks."""

from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import ImportJob
from metaeval.tasks import sweep, work_on_run
from scoring.models import Batch, Run, Setup
from scoring.runs.claims import postpone_batch
from scoring.runs.lifecycle import cancel_run
from scoring.webhooks.wake_ups import delete_old_events
from scoring.workers.wake_ups import queue_of, wake_waiting_runs
from tests.factories import make_member, make_project, make_user
from tests.scoring.claims import LEASE, claimed, make_run, record, status_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def woken(sent, django_capture_on_commit_callbacks):
    """Return a function that sweeps and gives each woken run's seconds until its message expires."""

    def sweep_now() -> dict[int, float]:
        with django_capture_on_commit_callbacks(execute=True):
            wake_waiting_runs()
        return {
            message["args"][0]: (datetime.fromisoformat(message["expires"]) - timezone.now()).total_seconds()
            for message in sent("cpu")
        }

    return sweep_now


def test_sweep_wakes_a_waiting_run(monkeypatch, woken):
    run = make_run(monkeypatch)
    assert woken() == {run.pk: pytest.approx(2, abs=1)}


def test_message_lasts_longer_for_a_run_without_recent_work(monkeypatch, woken):
    run = make_run(monkeypatch)
    Run.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    assert woken() == {run.pk: pytest.approx(60, abs=1)}
    record(claimed(run))
    assert woken() == {run.pk: pytest.approx(2, abs=1)}


def test_sweep_does_not_wake_runs_without_a_claimable_batch(monkeypatch, woken):
    run = make_run(monkeypatch, batches=2)
    claimed(run)
    postpone_batch(claimed(run))
    assert woken() == {}


def test_sweep_finds_the_batch_of_a_killed_worker(monkeypatch, woken):
    run = make_run(monkeypatch, batches=1)
    claimed(run, now=timezone.now() - LEASE - timedelta(seconds=1))
    assert set(woken()) == {run.pk}


def test_sweep_finds_a_postponed_batch_when_it_is_due(monkeypatch, woken):
    run = make_run(monkeypatch, batches=1)
    postpone_batch(claimed(run))
    Batch.objects.update(not_before=timezone.now() - timedelta(seconds=1))
    assert set(woken()) == {run.pk}


def test_sweep_does_not_wake_ended_runs(monkeypatch, woken):
    run = make_run(monkeypatch)
    cancel_run(run, make_member(run.setup.project, "manager"))
    assert woken() == {}


@pytest.mark.sqlite_suffices("PostgreSQL's plan depends on the number of rows")
def test_sweep_passes_over_batches_of_ended_runs_and_recent_events():
    with CaptureQueriesContext(connection) as captured:
        wake_waiting_runs()
        delete_old_events()
    plans = ""
    with connection.cursor() as cursor:
        for query in captured:
            cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
            plans += "".join(f"{step}\n" for *_, step in cursor.fetchall())
    assert "INDEX batch_unfinished (run_id=? AND finished_at=?)" in plans
    assert "INDEX event_at (at<?)" in plans


def test_tasks_sweep_and_work_on_runs(monkeypatch, sent, django_capture_on_commit_callbacks):
    run = make_run(monkeypatch)
    with django_capture_on_commit_callbacks(execute=True):
        sweep()
    assert [message["args"] for message in sent("cpu")] == [[run.pk]]
    work_on_run(run.pk)
    assert status_of(run) == Run.Status.DONE


def test_sweep_wakes_a_waiting_import(sent, django_capture_on_commit_callbacks):
    job = ImportJob.objects.create(project=make_project(), created_by=make_user(), format="seahorse")
    with django_capture_on_commit_callbacks(execute=True):
        sweep()
    assert [(message["task"], message["args"]) for message in sent("cpu")] == [
        ("scoring.tasks.run_import", [job.pk])
    ]


def test_every_evaluator_has_a_queue_even_a_removed_one():
    assert queue_of(Setup(evaluator="ice", params={"model": "m"})) == "llm"
    assert queue_of(Setup(evaluator="rouge")) == "cpu"
    assert queue_of(Setup(evaluator="gone")) == "cpu"
    assert queue_of(Setup(evaluator="ice", params={"parameter": "gone"})) == "cpu"
