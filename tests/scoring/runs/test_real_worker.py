"""A real worker with a real broker: killed during a run that another finishes, and beside dead endpoints."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from annotation.models import Article, Project, Summary, System
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.models import Batch, Run, Score, StoredReply, Worker
from scoring.replies.budgets import spending_of
from scoring.runs.planning import plan_run
from scoring.workers.wake_ups import queue_of
from tests.factories import make_project
from tests.scoring.processes import PATIENCE_S, ROOT, surroundings, wait_for
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint
from tests.scoring.tiny_models import tiny_model
from touchstone.celery import app

pytestmark = pytest.mark.django_db(transaction=True)

BATCH_SIZE = 10
KILLS = 25
MESSAGES = 25
"""Sent before each kill."""


SQLITE = pytest.param("SQLite", marks=pytest.mark.sqlite_suffices("PostgreSQL goes with the others"))
REDIS = pytest.param("redis_server", marks=pytest.mark.thorough)
RABBITMQ = pytest.param("rabbitmq", marks=pytest.mark.thorough)


@pytest.fixture(params=[SQLITE, REDIS, RABBITMQ])
def environment(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """Return variables of a worker on this test's database, with a broker of its own."""
    found = surroundings(tmp_path, CLAIM_LEASE_S="2")
    if request.param != "SQLite":
        found["BROKER_URL"] = request.getfixturevalue(request.param).url
    return found


@pytest.fixture
def planned(environment, monkeypatch):
    """Return a function that plans a run of an evaluator over new summaries and wakes a worker."""

    def made(evaluator: str, settings: dict[str, Any], summaries: int) -> Run:
        monkeypatch.setattr(load_evaluator(evaluator), "batch_size", BATCH_SIZE)
        project = make_project()
        system = System.objects.create(project=project, name="system")
        articles = Article.objects.bulk_create(
            Article(project=project, external_id=str(number), language="en", text="A text.")
            for number in range(summaries)
        )
        Summary.objects.bulk_create(
            Summary(project=project, article=article, system=system, text="word " * (number % 97))
            for number, article in enumerate(articles)
        )
        run = plan_run(project, evaluator, settings)
        with app.connection_for_write(environment["BROKER_URL"]) as broker:
            queue = queue_of(run.setup)
            app.send_task("scoring.tasks.work_on_run", [run.pk], queue=queue, connection=broker)
        return run

    return made


@contextmanager
def worker(environment: dict[str, str], processes: int = 2) -> Iterator[subprocess.Popen[bytes]]:
    """Start a worker like script/up does, in one process group; kill it at the end of the block."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "celery", "--app", "touchstone", "--quiet", "worker"),
            *("--queues", "cpu,gpu,llm", "--concurrency", str(processes), "--loglevel", "warning"),
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
        with suppress(ProcessLookupError):  # it ended by itself, which fails the test
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def asking(endpoint: ScriptedEndpoint) -> dict[str, Any]:
    return {
        "model": "scripted",
        "base_url": endpoint.base_url,
        "prompt": "described",
        "dimensions": "attribution",
        "examples": 0,
    }


def finished_batches() -> int:
    return Batch.objects.filter(finished_at__isnull=False).count()


def stored_scores() -> dict[int, int]:
    return dict(Score.objects.values_list("summary_id", "pk"))


def finish(run: Run, environment: dict[str, str], processes: int = 2) -> None:
    """Let another worker finish the run."""
    with worker(environment, processes) as second:
        wait_for(Run.objects.filter(pk=run.pk, status=Run.Status.DONE).exists, second)


def kill_and_finish(run: Run, environment: dict[str, str], killed_after: int, processes: int = 2) -> None:
    """Kill a worker after so many batches, and let another one finish the run.

    Asserts that no score is lost or written twice.
    """
    with worker(environment, processes) as first:
        wait_for(lambda: finished_batches() >= killed_after, first)
    before, done = stored_scores(), finished_batches()
    assert killed_after <= done < run.total / BATCH_SIZE, "the worker was killed during the run"
    assert len(before) == done * BATCH_SIZE, "a finished batch has all of its scores"

    finish(run, environment, processes)
    assert Score.objects.count() == run.total
    assert before.items() <= stored_scores().items()
    assert Project.objects.get().revision == run.total / BATCH_SIZE


def test_killed_worker_loses_no_score_and_duplicates_none(environment, planned):
    kill_and_finish(planned("length", {}, summaries=500), environment, killed_after=8)
    scores = Score.objects.values_list("value", "summary__text")
    assert all(value == len(text.split()) for value, text in scores)


@pytest.mark.thorough
def test_a_worker_goes_on_after_its_processes_were_killed_again_and_again(environment, planned):
    """A process killed between taking a task and telling so must not keep tasks from the others."""
    with worker(environment) as process, app.connection_for_write(environment["BROKER_URL"]) as broker:
        wait_for(Worker.objects.exists, process)
        chance = random.Random(1)
        for _ in range(KILLS):
            for _ in range(MESSAGES):
                app.send_task("scoring.tasks.sweep", queue="cpu", expires=10, connection=broker)
            if children := psutil.Process(process.pid).children():  # the clock, too, which does not come back
                chance.choice(children).kill()
        run = planned("length", {}, summaries=20)
        wait_for(Run.objects.filter(pk=run.pk, status=Run.Status.DONE).exists, process)


@pytest.mark.parametrize("environment", [REDIS, RABBITMQ], indirect=True)
def test_a_worker_outlives_a_restart_of_its_broker(environment, planned, monkeypatch, request):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    environment["OPENAI_API_KEY"] = "any"
    has_restarted = threading.Event()

    def answer(_):
        has_restarted.wait(PATIENCE_S)
        return Answer("0.5")

    with ScriptedEndpoint(answer) as endpoint, worker(environment) as process:
        run = planned("ice", asking(endpoint), summaries=20)
        wait_for(lambda: bool(endpoint.asked), process)
        request.getfixturevalue(request.node.callspec.params["environment"]).restart()
        has_restarted.set()
        wait_for(Run.objects.filter(pk=run.pk, status=Run.Status.DONE).exists, process)
        later = planned("length", {}, summaries=20)
        wait_for(Run.objects.filter(pk=later.pk, status=Run.Status.DONE).exists, process)


@pytest.mark.thorough
@pytest.mark.slow("two workers load a model, and the second waits for a sweep")
@pytest.mark.parametrize("environment", [SQLITE], indirect=True)
def test_run_with_a_model_continues_after_its_worker_was_killed(environment, planned):
    settings = {"model": str(tiny_model("bert")), "against": "article"}
    run = planned("similarity", settings, summaries=200)
    # One process: each loads the library, which takes most of the time.
    kill_and_finish(run, environment, killed_after=4, processes=1)
    assert "gpu" in Worker.objects.values_list("queues", flat=True)[0], "the worker recorded its queues"
    evaluator_class = load_evaluator("similarity")
    here = evaluator_class(read_params(evaluator_class, settings))
    scores = list(Score.objects.values_list("summary_id", "value", "reason", "summary__text"))
    expected = here.score([Item(str(pk), text, article="A text.") for pk, _, _, text in scores])
    for (_, value, reason, _), scored in zip(scores, expected, strict=True):
        if reason:
            assert scored.reasons == {"general": reason}
        else:
            assert value == pytest.approx(scored.values["general"], abs=1e-5)


@pytest.mark.parametrize("environment", [SQLITE, RABBITMQ], indirect=True)
def test_replies_received_by_a_killed_worker_are_not_requested_again(environment, planned, monkeypatch):
    summaries, killed_after = 60, 25
    requests = summaries - 1  # the first summary is empty
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    environment["OPENAI_API_KEY"] = "any"
    before, is_killed = threading.Semaphore(killed_after), threading.Event()

    def answer(_):
        if not before.acquire(blocking=False):
            is_killed.wait(PATIENCE_S)
        return Answer("0.5", usage=(100, 2))

    def counted() -> tuple[int, int]:
        return Run.objects.values_list("prompt_tokens", "completion_tokens").get()

    def stored() -> dict[str, int]:
        return dict(StoredReply.objects.values_list("request", "pk"))

    with ScriptedEndpoint(answer) as endpoint:
        run = planned("ice", asking(endpoint), summaries)
        with worker(environment) as first:
            wait_for(lambda: StoredReply.objects.count() == killed_after, first)
        is_killed.set()
        kept = stored()
        done = sum(Batch.objects.filter(finished_at__isnull=False).values_list("size", flat=True))
        assert done < len(kept) < summaries, "the worker was killed during a batch"
        assert counted() == (100 * len(kept), 2 * len(kept))

        asked_in_vain = len(endpoint.asked) - len(kept)
        assert asked_in_vain > 0

        endpoint.asked.clear()
        finish(run, environment)
        assert len(endpoint.asked) == requests - len(kept)
        assert asked_in_vain <= spending_of(run).lost_requests <= 2 * BATCH_SIZE

    assert kept.items() <= stored().items()
    assert Score.objects.filter(value=0.5).count() == requests
    assert counted() == (100 * requests, 2 * requests)


def test_endpoints_that_answer_nobody_leave_a_process_to_others(environment, planned, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    environment["OPENAI_API_KEY"] = "any"
    end = threading.Event()

    def answer(_):
        end.wait(PATIENCE_S)
        return Answer()

    with ScriptedEndpoint(answer) as one, ScriptedEndpoint(answer) as other:
        for endpoint in (one, other):
            planned("ice", asking(endpoint), 20)
        try:
            with worker(environment) as running:
                wait_for(lambda: bool(one.asked or other.asked), running)
                run = planned("length", {}, 20)
                wait_for(Run.objects.filter(pk=run.pk, status=Run.Status.DONE).exists, running)
                assert not (one.asked and other.asked)
        finally:
            end.set()
