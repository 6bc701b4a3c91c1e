"""A process killed during an import leaves nothing behind, and another imports the file once."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.import_files import SEAHORSE_HEADER, lines, seahorse_row

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[3]
ROWS = 6000
PATIENCE_S = 240

QUEUE = """
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.management import call_command
from pathlib import Path
from annotation.imports.jobs import queue_import
from annotation.models import Project
User.objects.create_user("boss")
call_command("create_project", "Killed", "--questionnaire", "seahorse", "--manager", "boss")
path = Path({path!r})
queue_import(Project.objects.get(slug="killed"), None, "seahorse", ContentFile(path.read_bytes(), path.name))
"""
WORK = "from scoring.runs.imported_scores import work_on_import; work_on_import(1)"

CANCEL = """
import time
from django.contrib.auth.models import User
from django.db.models import F
from annotation.imports.jobs import cancel_import
from annotation.models import ImportJob
print("ready", flush=True)
while not ImportJob.objects.filter(status="running", rows_total=F("rows_read")).exists():
    time.sleep(0.005)
cancel_import(ImportJob.objects.get(), User.objects.get())
"""
HANG = """
import itertools, os, signal
from annotation.imports.jobs import work_on_import
def hang(job):
    sum(itertools.repeat(1))  # a call that never returns to Python
signal.signal(signal.SIGALRM, lambda *_: None)  # a process pool may set its own handler
for attempt in range(4):
    child = os.fork()
    if not child:
        work_on_import(1, hang)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.fixture
def environment(tmp_path, migrated_sqlite):
    shutil.copy(migrated_sqlite, tmp_path)
    return {
        **os.environ,
        "VAR_DIR": str(tmp_path),
        "UPLOAD_DIR": str(tmp_path / "uploads"),
        "DATABASE_URL": f"sqlite:///{tmp_path / 'touchstone.sqlite3'}",
        "BROKER_URL": "memory://",
    }


def start(environment, *arguments):
    return subprocess.Popen([sys.executable, "manage.py", *arguments], cwd=ROOT, env=environment)


def manage(environment, *arguments):
    assert start(environment, *arguments).wait(PATIENCE_S) == 0


def query(environment, statement):
    connection = sqlite3.connect(environment["DATABASE_URL"].removeprefix("sqlite:///"), timeout=120)
    try:
        rows = connection.execute(statement).fetchall()
        connection.commit()
        return rows
    finally:
        connection.close()


def test_killed_import_stores_nothing_and_is_repeated_completely(environment, tmp_path):
    rows = (seahorse_row(f"a-test-{number}") for number in range(ROWS))
    path = lines(tmp_path / "ratings.tsv", SEAHORSE_HEADER, *rows)
    manage(environment, "shell", "-v0", "-c", QUEUE.format(path=str(path)))
    worker = start(environment, "shell", "-v0", "-c", WORK)
    deadline = time.monotonic() + PATIENCE_S
    job = "SELECT status, rows_read = rows_total FROM annotation_importjob"
    while query(environment, job) != [("running", 1)]:  # all rows are checked, and storing has begun
        assert time.monotonic() < deadline
        assert worker.poll() is None, "the worker ended before it was killed"
        time.sleep(0.005)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    counts = "SELECT (SELECT count(*) FROM annotation_article), (SELECT count(*) FROM annotation_answer)"
    assert query(environment, counts) == [(0, 0)]
    assert query(environment, job) == [("running", 1)]
    query(environment, "UPDATE annotation_importjob SET leased_until = '2020-01-01 00:00:00'")
    manage(environment, "shell", "-v0", "-c", WORK)
    assert query(environment, "SELECT status, attempts FROM annotation_importjob") == [("done", 2)]
    assert query(environment, counts) == [(ROWS, 6 * ROWS)]
    assert query(environment, "SELECT revision FROM annotation_project") == [(1,)]


def test_hanging_worker_is_stopped_and_the_job_fails_after_three(environment, tmp_path):
    path = lines(tmp_path / "ratings.tsv", SEAHORSE_HEADER, seahorse_row())
    manage(environment, "shell", "-v0", "-c", QUEUE.format(path=str(path)))
    arguments = [sys.executable, "manage.py", "shell", "-v0", "-c", HANG]
    hanging = environment | {"CLAIM_LEASE_S": "1"}
    ended = subprocess.run(
        arguments, cwd=ROOT, env=hanging, capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )
    assert ended.stdout.split() == [str(-signal.SIGALRM)] * 3 + ["0"]
    ((status, attempts, failure),) = query(
        environment, "SELECT status, attempts, failure FROM annotation_importjob"
    )
    assert (status, attempts) == ("failed", 3)
    assert "made no progress for 1 seconds" in failure


def test_import_can_be_cancelled_while_it_is_stored(environment, tmp_path):
    """On SQLite, no other process can write meanwhile."""
    rows = (seahorse_row(f"a-test-{number}") for number in range(ROWS))
    path = lines(tmp_path / "ratings.tsv", SEAHORSE_HEADER, *rows)
    manage(environment, "shell", "-v0", "-c", QUEUE.format(path=str(path)))
    arguments = [sys.executable, "manage.py", "shell", "-v0", "-c", CANCEL]
    with subprocess.Popen(
        arguments, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as canceller:
        assert canceller.stdout.readline() == "ready\n"
        manage(environment, "shell", "-v0", "-c", WORK)
        assert canceller.wait(PATIENCE_S) == 0
    assert query(environment, "SELECT status, leased_until FROM annotation_importjob") == [
        ("cancelled", None)
    ]
    counts = "SELECT (SELECT count(*) FROM annotation_article), (SELECT count(*) FROM annotation_answer)"
    assert query(environment, counts) == [(0, 0)]
    assert not list((tmp_path / "uploads").rglob("*.cancel"))
