"""A process is killed while it stores an import: nothing of the file is there, and another loads it once."""

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

pytestmark = pytest.mark.database

ROOT = Path(__file__).resolve().parent.parent.parent
ROWS = 6000
PATIENCE_S = 90

QUEUE = """
from django.core.files.base import ContentFile
from pathlib import Path
from annotation.actions.import_jobs import queue_import
from annotation.models import Project
path = Path({path!r})
queue_import(Project.objects.get(slug="killed"), None, "seahorse", ContentFile(path.read_bytes(), path.name))
"""
WORK = "from scoring.imported import work_on_import; work_on_import(1)"


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


def ask(environment, statement):
    connection = sqlite3.connect(environment["DATABASE_URL"].removeprefix("sqlite:///"), timeout=30)
    try:
        rows = connection.execute(statement).fetchall()
        connection.commit()
        return rows
    finally:
        connection.close()


def test_a_kill_in_the_middle_of_storing_leaves_nothing_and_loses_nothing(environment, tmp_path):
    rows = (seahorse_row(f"a-test-{number}") for number in range(ROWS))
    path = lines(tmp_path / "ratings.tsv", SEAHORSE_HEADER, *rows)
    manage(environment, "create_project", "Killed", "--questionnaire", "seahorse")
    manage(environment, "shell", "-v0", "-c", QUEUE.format(path=str(path)))
    worker = start(environment, "shell", "-v0", "-c", WORK)
    deadline = time.monotonic() + PATIENCE_S
    job = "SELECT status, rows_read = rows_total FROM annotation_importjob"
    while ask(environment, job) != [("running", 1)]:  # all rows are checked, and the loading has begun
        assert time.monotonic() < deadline
        assert worker.poll() is None, "it ended before it was killed"
        time.sleep(0.005)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    counts = "SELECT (SELECT count(*) FROM annotation_article), (SELECT count(*) FROM annotation_answer)"
    assert ask(environment, counts) == [(0, 0)]
    assert ask(environment, job) == [("running", 1)]
    ask(environment, "UPDATE annotation_importjob SET claimed_until = '2020-01-01 00:00:00'")
    manage(environment, "shell", "-v0", "-c", WORK)
    assert ask(environment, "SELECT status, attempts FROM annotation_importjob") == [("done", 2)]
    assert ask(environment, counts) == [(ROWS, 6 * ROWS)]
    assert ask(environment, "SELECT revision FROM annotation_project") == [(1,)]
