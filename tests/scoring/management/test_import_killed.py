"""A process killed during an import leaves nothing behind, and another imports the file once."""

import signal
import subprocess

import pytest
from django.core.files.base import ContentFile

from annotation.imports.jobs import cancel_import, queue_import
from annotation.models import Answer, Article, ImportJob, Project
from scoring.runs.imported_scores import work_on_import
from tests.factories import make_member, make_project
from tests.import_files import SEAHORSE_HEADER, lines, seahorse_row
from tests.scoring.processes import PATIENCE_S, start, surroundings, wait_for

pytestmark = pytest.mark.django_db(transaction=True)

ROWS = 3000

WORK = "from scoring.runs.imported_scores import work_on_import; work_on_import({job})"
HANG = """
import ctypes, os, signal
from annotation.imports.jobs import work_on_import
def hang(job):
    # A call that never returns to Python: it waits for what it holds, as in a deadlock.
    library, mutex = ctypes.PyDLL(None), ctypes.create_string_buffer(64)
    library.pthread_mutex_lock(mutex)
    library.pthread_mutex_lock(mutex)
signal.signal(signal.SIGALRM, lambda *_: None)  # a process pool may set its own handler
for attempt in range(4):
    child = os.fork()
    if not child:
        work_on_import({job}, hang)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.fixture
def environment(tmp_path, settings):
    """Return variables of a process on this test's database, with uploads in a folder that both know."""
    settings.MEDIA_ROOT = tmp_path / "uploads"
    return surroundings(tmp_path, BROKER_URL="memory://")


@pytest.fixture
def queued(environment, tmp_path):
    """Return a function that queues the import of a file of so many rows."""

    def made(rows: int) -> ImportJob:
        table = (seahorse_row(f"a-test-{number}") for number in range(rows))
        path = lines(tmp_path / "ratings.tsv", SEAHORSE_HEADER, *table)
        return queue_import(make_project(), None, "seahorse", ContentFile(path.read_bytes(), path.name))

    return made


def is_storing(job: ImportJob) -> bool:
    """Return whether all rows of the job are checked, so that storing has begun."""
    job.refresh_from_db()
    return job.status == "running" and job.rows_read == job.rows_total


def counts() -> tuple[int, int]:
    return Article.objects.count(), Answer.objects.count()


def test_killed_import_stores_nothing_and_is_repeated_completely(environment, queued):
    job = queued(ROWS)
    worker = start(environment, WORK.format(job=job.pk))
    wait_for(lambda: is_storing(job), worker)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert counts() == (0, 0)
    assert is_storing(job)
    ImportJob.objects.update(leased_until="2020-01-01T00:00:00Z")
    work_on_import(job.pk)
    job.refresh_from_db()
    assert (job.status, job.attempts) == ("done", 2)
    assert counts() == (ROWS, 6 * ROWS)
    assert Project.objects.get().revision == 1


def test_hanging_worker_is_stopped_and_the_job_fails_after_three(environment, queued):
    job = queued(1)
    hanging = start(
        environment | {"CLAIM_LEASE_S": "1"}, HANG.format(job=job.pk), stdout=subprocess.PIPE, text=True
    )
    ended, _ = hanging.communicate(timeout=PATIENCE_S)
    assert hanging.returncode == 0
    assert ended.split() == [str(-signal.SIGALRM)] * 3 + ["0"]
    job.refresh_from_db()
    assert (job.status, job.attempts) == ("failed", 3)
    assert "made no progress for 1 seconds" in job.failure


def test_import_can_be_cancelled_while_it_is_stored(environment, queued, tmp_path):
    """On SQLite, no other process can write meanwhile."""
    job = queued(ROWS)
    user = make_member(job.project, "manager")
    worker = start(environment, WORK.format(job=job.pk))
    wait_for(lambda: is_storing(job), worker)
    cancel_import(job, user)
    assert worker.wait(PATIENCE_S) == 0
    job.refresh_from_db()
    assert (job.status, job.leased_until) == ("cancelled", None)
    assert counts() == (0, 0)
    assert not list((tmp_path / "uploads").rglob("*.cancel"))
