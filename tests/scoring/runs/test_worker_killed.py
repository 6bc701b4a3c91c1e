"""A real worker with a real broker is killed during a run, and another worker finishes it."""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint
from tests.scoring.tiny_models import tiny_model

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[3]
SUMMARIES, BATCH_SIZE = 2000, 10
KILLED_AFTER = 40  # batches
PATIENCE_S = 240  # a worker may take long to load a model on a busy machine

PLAN = """
from annotation.models import Article, Project, Summary, System
from annotation.projects.settings import create_project
from annotation.protocol import SEAHORSE
from scoring.evaluators import load_evaluator
from scoring.runs.planning import plan_run

project = create_project("Killed", SEAHORSE)
system = System.objects.create(project=project, name="system")
articles = Article.objects.bulk_create(
    Article(project=project, external_id=str(number), language="en", text="A text.")
    for number in range({summaries})
)
Summary.objects.bulk_create(
    Summary(project=project, article=article, system=system, text="word " * (number % 97))
    for number, article in enumerate(articles)
)
load_evaluator({evaluator!r}).batch_size = {batch_size}
plan_run(project, {evaluator!r}, {settings!r})
"""


class Database:
    """The platform's database, queried without Django."""

    def __init__(self, url: str) -> None:
        self._url = url

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        connection: Any
        if self._url.startswith("sqlite"):
            connection = sqlite3.connect(self._url.removeprefix("sqlite:///"), timeout=120)
        else:
            connection = psycopg.connect(self._url)
        try:
            return list(connection.execute(statement).fetchall())
        finally:
            connection.close()

    def value(self, statement: str) -> Any:
        return self.rows(statement)[0][0]

    def wait_for(self, statement: str, wanted: Any, worker: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while self.value(statement) != wanted:
            assert time.monotonic() < deadline, f"still {self.value(statement)!r}: {statement}"
            assert worker.poll() is None, "the worker stopped by itself"
            time.sleep(0.05)


@pytest.fixture(scope="module")
def migrated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an empty database with all tables, for each test to copy."""
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        yield f"sqlite:///{request.getfixturevalue('migrated_sqlite')}"
        return
    with new_database(url) as address:
        manage(surroundings(tmp_path_factory.mktemp("migrated"), address), "migrate", "--verbosity", "0")
        yield address


@pytest.fixture
def environment(tmp_path: Path, migrated: str) -> Iterator[dict[str, str]]:
    """Return variables of a platform with its own database and broker."""
    if not migrated.startswith("postgres"):
        own = shutil.copy(migrated.removeprefix("sqlite:///"), tmp_path)
        yield surroundings(tmp_path, f"sqlite:///{own}")
        return
    with new_database(os.environ["DATABASE_URL"], template=name_of(migrated)) as address:
        yield surroundings(tmp_path, address)


def surroundings(folder: Path, database_url: str) -> dict[str, str]:
    variables = {
        **os.environ,
        "VAR_DIR": str(folder),
        "DATABASE_URL": database_url,
        "BROKER_URL": f"sqlite:///{folder / 'broker.sqlite3'}",
        "CLAIM_LEASE_S": "2",
        "OMP_NUM_THREADS": "1",
    }
    variables.pop("DJANGO_SETTINGS_MODULE", None)
    return variables


@contextmanager
def new_database(url: str, template: str = "template1") -> Iterator[str]:
    """Yield the address of a PostgreSQL database that is dropped at the end of the block."""
    name = f"touchstone_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        yield re.sub(r"/[^/?]*(\?|$)", rf"/{name}\1", url)
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def name_of(url: str) -> str:
    return urlsplit(url).path.removeprefix("/")


def manage(environment: dict[str, str], *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def plan(environment: dict[str, str], evaluator: str, settings: dict[str, Any], summaries: int) -> None:
    filled = {"evaluator": evaluator, "settings": settings, "summaries": summaries}
    manage(environment, "shell", "--no-imports", "-c", PLAN.format(**filled, batch_size=BATCH_SIZE))


@contextmanager
def worker(environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start a worker like script/up does, in one process group; kill it at the end of the block."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "celery", "--app", "touchstone", "--quiet", "worker"),
            *("--queues", "cpu,gpu,llm", "--concurrency", "2", "--loglevel", "warning"),
            *("--without-mingle", "--without-gossip"),
            *("--beat", "--schedule", str(Path(environment["VAR_DIR"]) / "beat-schedule")),
        ],
        cwd=ROOT,
        env=environment,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_killed_worker_loses_no_score_and_duplicates_none(environment):
    plan(environment, "length", {}, SUMMARIES)
    database = Database(environment["DATABASE_URL"])

    with worker(environment) as first:
        enough = f"SELECT count(*) >= {KILLED_AFTER} FROM scoring_batch WHERE finished_at IS NOT NULL"
        database.wait_for(enough, True, first)
    before = dict(database.rows("SELECT summary_id, id FROM scoring_score"))
    done = database.value("SELECT count(*) FROM scoring_batch WHERE finished_at IS NOT NULL")
    assert KILLED_AFTER <= done < SUMMARIES / BATCH_SIZE, "the worker was killed during the run"
    assert len(before) == done * BATCH_SIZE, "a finished batch has all of its scores"

    with worker(environment) as second:
        database.wait_for("SELECT status FROM scoring_run", "done", second)

    scores = database.rows(
        "SELECT scoring_score.summary_id, scoring_score.id, value, text FROM scoring_score "
        "JOIN annotation_summary ON annotation_summary.id = scoring_score.summary_id"
    )
    assert len(scores) == SUMMARIES
    assert all(value == len(text.split()) for _, _, value, text in scores)
    assert before.items() <= {summary: score for summary, score, _, _ in scores}.items()
    assert database.value("SELECT revision FROM annotation_project") == SUMMARIES / BATCH_SIZE


def test_run_with_a_model_continues_after_its_worker_was_killed(environment):
    summaries, killed_after = 400, 8
    settings = {"model": str(tiny_model("bert")), "against": "article"}
    plan(environment, "similarity", settings, summaries)
    database = Database(environment["DATABASE_URL"])

    with worker(environment) as first:
        enough = f"SELECT count(*) >= {killed_after} FROM scoring_batch WHERE finished_at IS NOT NULL"
        database.wait_for(enough, True, first)
    before = dict(database.rows("SELECT summary_id, id FROM scoring_score"))
    assert killed_after * BATCH_SIZE <= len(before) < summaries, "the worker was killed during the run"
    assert "gpu" in database.value("SELECT queues FROM scoring_worker"), "the worker recorded its queues"

    with worker(environment) as second:
        database.wait_for("SELECT status FROM scoring_run", "done", second)

    scores = database.rows(
        "SELECT scoring_score.summary_id, scoring_score.id, value, reason, text FROM scoring_score "
        "JOIN annotation_summary ON annotation_summary.id = scoring_score.summary_id"
    )
    assert len(scores) == summaries
    assert before.items() <= {summary: score for summary, score, *_ in scores}.items()
    evaluator_class = load_evaluator("similarity")
    here = evaluator_class(read_params(evaluator_class, settings))
    expected = here.score([Item(str(pk), text, article="A text.") for pk, _, _, _, text in scores])
    for (_, _, value, reason, _), scored in zip(scores, expected, strict=True):
        if reason:
            assert scored.reasons == {"general": reason}
        else:
            assert value == pytest.approx(scored.values["general"], abs=1e-5)


def test_replies_received_by_a_killed_worker_are_not_requested_again(environment):
    summaries, killed_after = 60, 25
    requests = summaries - 1  # the first summary is empty
    environment["OPENAI_API_KEY"] = "any"
    database = Database(environment["DATABASE_URL"])
    before, is_killed = threading.Semaphore(killed_after), threading.Event()

    def answer(_):
        if not before.acquire(blocking=False):
            is_killed.wait(PATIENCE_S)
        return Answer("0.5", usage=(100, 2))

    with ScriptedEndpoint(answer) as endpoint:
        settings = {
            "model": "scripted",
            "base_url": endpoint.base_url,
            "prompt": "described",
            "dimensions": "attribution",
            "examples": 0,
        }
        plan(environment, "ice", settings, summaries)
        with worker(environment) as first:
            enough = f"SELECT count(*) = {killed_after} FROM scoring_storedreply"
            database.wait_for(enough, True, first)
        is_killed.set()
        kept = dict(database.rows("SELECT request, id FROM scoring_storedreply"))
        finished = "SELECT coalesce(sum(size), 0) FROM scoring_batch WHERE finished_at IS NOT NULL"
        done = database.value(finished)
        assert done < len(kept) < summaries, "the worker was killed during a batch"
        counted = "SELECT prompt_tokens, completion_tokens FROM scoring_run"
        assert database.rows(counted) == [(100 * len(kept), 2 * len(kept))]

        endpoint.asked.clear()
        with worker(environment) as second:
            database.wait_for("SELECT status FROM scoring_run", "done", second)
        assert len(endpoint.asked) == requests - len(kept)

    assert kept.items() <= dict(database.rows("SELECT request, id FROM scoring_storedreply")).items()
    assert database.value("SELECT count(*) FROM scoring_score WHERE value = 0.5") == requests
    assert database.rows(counted) == [(100 * requests, 2 * requests)]
