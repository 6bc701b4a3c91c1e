"""A worker killed after the endpoint received its batch and before the database has its id."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 240

SUBMIT = """
from annotation.projects.settings import create_project
from annotation.models import Article, Summary, System
from annotation.protocol import SEAHORSE
from scoring.runs.planning import plan_run
project = create_project("Killed", SEAHORSE)
system = System.objects.create(project=project, name="system")
for number in range(4):
    article = Article.objects.create(project=project, external_id=str(number), language="en", text="A text.")
    Summary.objects.create(project=project, article=article, system=system, text=f"Summary {{number}}.")
settings = {{"model": "scripted", "base_url": {url!r}, "prompt": "described", "examples": 0}}
plan_run(project, "ice", {{**settings, "dimensions": "attribution"}}, delivery="batch")
from scoring.batch_api.batch_api_worker import work_on_api_batch
work_on_api_batch(1)
"""
CONTINUE = """
from scoring.batch_api.batch_api_worker import work_on_api_batch
from scoring.models import ApiBatch, Run
from scoring.runs.worker import work_on_run
for _ in range(6):
    ApiBatch.objects.update(not_before=None, leased_until=None)
    for api_batch in ApiBatch.objects.unfinished():
        work_on_api_batch(api_batch.pk)
    work_on_run(Run.objects.get().pk)
"""


@pytest.fixture
def environment(tmp_path, migrated_sqlite):
    shutil.copy(migrated_sqlite, tmp_path)
    return {
        **os.environ,
        "VAR_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path / 'touchstone.sqlite3'}",
        "BROKER_URL": "memory://",
        "OPENAI_API_KEY": "any",
    }


def start(environment, script):
    command = [sys.executable, "manage.py", "shell", "--verbosity", "0", "-c", script]
    return subprocess.Popen(command, cwd=ROOT, env=environment)


def rows(environment, statement):
    path = environment["DATABASE_URL"].removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, timeout=120)) as connection:
        return connection.execute(statement).fetchall()


def test_submitted_batch_is_found_again_and_not_submitted_twice(environment):
    started, killed = threading.Event(), threading.Event()

    def starting():
        started.set()
        killed.wait(PATIENCE_S)  # the worker never receives the batch's id

    with ScriptedEndpoint(lambda _: Answer("0.5", usage=(100, 2)), takes_batches=True) as endpoint:
        endpoint.starting = starting
        worker = start(environment, SUBMIT.format(url=endpoint.base_url))
        assert started.wait(PATIENCE_S)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        killed.set()
        told = "SELECT state, input_file, remote_id FROM scoring_apibatch"
        assert rows(environment, told) == [("waiting", "file-0", "")]

        assert start(environment, CONTINUE).wait(PATIENCE_S) == 0
        assert rows(environment, told) == [("done", "file-0", "batch_0")]
        assert list(endpoint.batches.batches) == ["batch_0"]
    assert rows(environment, "SELECT status, prompt_tokens FROM scoring_run") == [("done", 400)]
    assert rows(environment, "SELECT value FROM scoring_score") == [(0.5,)] * 4
