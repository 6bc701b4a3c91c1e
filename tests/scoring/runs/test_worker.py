"""A worker's results: scores, reasons and failures."""

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from annotation.declared.settings import setting
from annotation.models import Article, Project
from scoring.contract.evaluator import GENERAL, Evaluator, EvaluatorError
from scoring.contract.items import Item
from scoring.contract.scores import Scored
from scoring.evaluators import EVALUATORS
from scoring.models import Batch, Run, Score, Setup
from scoring.runs import worker
from scoring.runs.claims import claim_batch
from scoring.runs.lifecycle import resume_run
from scoring.runs.planning import plan_run
from scoring.runs.worker import MOST_ATTEMPTS, evaluator_of, work_on_run
from tests.factories import make_member, make_project, make_summary
from tests.scoring.claims import make_run
from tests.scoring.runs.test_planning import rate
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def forget_evaluators() -> Iterator[None]:
    worker._loaded.clear()
    yield
    worker._loaded.clear()


@dataclass
class Outcomes:
    """The failure of each summary text, and the summaries scored so far."""

    failures: dict[str, Exception]
    asked: list[str]


outcomes = Outcomes({}, [])


class ScriptedEvaluator(Evaluator):
    """A real evaluator, for these tests only, with failures set by the test."""

    name, title, version, source = "scripted", "Scripted", 1, "a test"
    batch_size = 1

    @dataclass(frozen=True)
    class Params:
        delay_s: float = setting(0.0, label="Delay", help="Seconds that each batch takes.")

    params: Params

    def score(self, items: Sequence[Item]) -> list[Scored]:
        time.sleep(self.params.delay_s)
        for item in items:
            outcomes.asked.append(item.summary)
            if item.summary in outcomes.failures:
                raise outcomes.failures[item.summary]
        return [Scored.of({GENERAL: float(len(item.summary))}) for item in items]


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch) -> Outcomes:
    monkeypatch.setitem(EVALUATORS, "scripted", f"{__name__}.ScriptedEvaluator")
    monkeypatch.setattr(f"{__name__}.outcomes", Outcomes({}, []))
    return outcomes


UNCUT_S = 600
"""Length of a slice, long enough that it never ends during a test."""


def texts(project: Project, *texts: str) -> None:
    """Create one summary with each text, to be scored in this order."""
    for text in texts:
        make_summary(project, text=text)


def work(run: Run, until_settled: bool = False) -> Run:
    """Work on the run; with `until_settled`, repeat while batches are postponed, without waiting."""
    work_on_run(run.pk, slice_s=UNCUT_S)
    while until_settled and Batch.objects.filter(run=run, not_before__gt=timezone.now()).unfinished():
        Batch.objects.filter(run=run).update(not_before=None)
        work_on_run(run.pk, slice_s=UNCUT_S)
        if not Run.objects.get(pk=run.pk).is_unfinished:
            break
    run.refresh_from_db()
    return run


def test_worker_scores_every_batch_and_finishes_the_run(monkeypatch):
    run = work(make_run(monkeypatch, batches=3))
    assert run.status == Run.Status.DONE
    assert Score.objects.computed().filter(run=run).count() == 6


def test_second_wake_up_does_nothing(monkeypatch):
    run = work(make_run(monkeypatch))
    before = Project.objects.get().revision
    work(run)
    assert Project.objects.get().revision == before


def test_wake_up_for_a_deleted_run_does_nothing():
    work_on_run(4711)


def test_scores_do_not_depend_on_the_batch(monkeypatch):
    project = make_project()
    make_run(monkeypatch, batches=5, size=3, project=project)
    work(Run.objects.get())
    for score in Score.objects.select_related("summary"):
        assert score.value == len(score.summary.text.split())


def test_worker_yields_to_other_runs_after_its_slice(monkeypatch, sent, django_capture_on_commit_callbacks):
    run = make_run(monkeypatch, batches=3)
    with django_capture_on_commit_callbacks(execute=True):
        work_on_run(run.pk, slice_s=0)
    assert Batch.objects.filter(finished_at__isnull=False).count() == 1
    assert [message["args"] for message in sent("cpu")] == [[run.pk]]


def test_temporary_failure_is_retried_later(scripted):
    project = make_project()
    texts(project, "good", "bad")
    scripted.failures["bad"] = EvaluatorError("no answer", permanent=False)
    run = work(plan_run(project, "scripted", {}))
    assert run.status == Run.Status.RUNNING
    assert set(Score.objects.values_list("summary__text", "value")) == {("good", 4.0)}
    waiting = Batch.objects.unfinished().get()
    assert (waiting.leased_until, waiting.attempts) == (None, 1)
    assert waiting.not_before > timezone.now()
    scripted.failures.clear()
    assert work(run, until_settled=True).status == Run.Status.DONE
    assert Score.objects.get(summary__text="bad").value == 3.0


def test_repeated_failure_becomes_the_reason_of_its_summaries(scripted):
    project = make_project()
    texts(project, "good", "bad")
    scripted.failures["bad"] = EvaluatorError("no answer", permanent=False)
    run = work(plan_run(project, "scripted", {}), until_settled=True)
    assert run.status == Run.Status.DONE
    assert Score.objects.get(summary__text="bad").reason == "no answer (5 attempts)"
    assert scripted.asked.count("bad") == MOST_ATTEMPTS
    assert scripted.asked.count("good") == 1


def test_run_fails_if_consecutive_batches_fail_and_can_be_resumed(scripted):
    project = make_project()
    names = [f"summary {number}" for number in range(8)]
    texts(project, *names)
    scripted.failures |= dict.fromkeys(names, EvaluatorError("no answer", permanent=False))
    run = work(plan_run(project, "scripted", {}), until_settled=True)
    assert run.status == Run.Status.FAILED
    assert run.failure == "4 consecutive batches failed: no answer"
    assert Score.objects.count() == 3
    scripted.failures.clear()
    resume_run(run, make_member(project, "manager"))
    assert work(run).status == Run.Status.DONE
    assert Score.objects.computed().count() == 5


def test_permanent_failure_fails_the_run_with_its_message(scripted):
    project = make_project()
    texts(project, "good", "bad", "never reached")
    scripted.failures["bad"] = EvaluatorError("wrong key", permanent=True)
    run = work(plan_run(project, "scripted", {}))
    assert (run.status, run.failure) == (Run.Status.FAILED, "wrong key")
    assert list(Score.objects.values_list("summary__text", flat=True)) == ["good"]
    assert scripted.asked == ["good", "bad"]
    scripted.failures.clear()
    resume_run(run, make_member(project, "manager"))
    assert work(run).status == Run.Status.DONE
    assert scripted.asked == ["good", "bad", "bad", "never reached"], "scored summaries are not scored again"


def test_unexpected_error_fails_the_run_and_is_logged_with_its_traceback(scripted, caplog):
    project = make_project()
    texts(project, "bad")
    scripted.failures["bad"] = ZeroDivisionError("division by zero\nsecond line")
    with caplog.at_level(logging.ERROR):
        run = work(plan_run(project, "scripted", {}))
    assert run.status == Run.Status.FAILED
    assert run.failure == "Unexpected ZeroDivisionError: division by zero (the worker's log has the details)"
    assert "Traceback" in caplog.text
    assert Batch.objects.get().leased_until is None


def test_out_of_memory_is_retried_and_then_becomes_the_reason(scripted):
    project = make_project()
    texts(project, "good", "bad")
    scripted.failures["bad"] = MemoryError()
    run = work(plan_run(project, "scripted", {}), until_settled=True)
    assert run.status == Run.Status.DONE
    assert Score.objects.get(summary__text="bad").reason == "out of memory (5 attempts)"


def test_busy_database_does_not_fail_the_run(scripted, monkeypatch):
    monkeypatch.setattr(worker, "RECORDING_PAUSE_S", 0)
    project = make_project()
    texts(project, "good")
    calls = []

    def busy_twice(*args):
        calls.append(args)
        if len(calls) < 3:
            raise OperationalError("deadlock detected")
        return real(*args)

    real = worker.record_scores
    monkeypatch.setattr(worker, "record_scores", busy_twice)
    assert work(plan_run(project, "scripted", {})).status == Run.Status.DONE
    assert scripted.asked == ["good"]


def test_batch_is_released_if_the_database_stays_busy(scripted, monkeypatch):
    monkeypatch.setattr(worker, "RECORDING_PAUSE_S", 0)
    project = make_project()
    texts(project, "good")

    def busy(*args):
        raise OperationalError("database is locked")

    monkeypatch.setattr(worker, "record_scores", busy)
    run = work(plan_run(project, "scripted", {}))
    assert run.status == Run.Status.RUNNING
    assert Batch.objects.get().leased_until is None


def test_batch_that_kills_its_worker_repeatedly_is_given_up(scripted):
    project = make_project()
    texts(project, "deadly")
    run = plan_run(project, "scripted", {})
    for days in range(MOST_ATTEMPTS, 0, -1):
        assert claim_batch(run.pk, now=timezone.now() - timedelta(days=days))
    assert work(run).status == Run.Status.DONE
    assert Score.objects.get().reason == "the worker stopped each time, perhaps out of memory (5 attempts)"
    assert scripted.asked == []


@pytest.mark.django_db(transaction=True)
def test_claim_is_renewed_while_a_long_batch_is_scored(settings):
    settings.CLAIM_LEASE_S = 0.3
    project = make_project()
    texts(project, "slow")
    run = plan_run(project, "scripted", {"delay_s": "1.2"})
    assert work(run).status == Run.Status.DONE
    assert Batch.objects.get().attempts == 1


@pytest.mark.django_db(transaction=True)
def test_claim_is_not_renewed_after_its_batch_is_done(settings):
    settings.CLAIM_LEASE_S = 0.1
    project = make_project()
    texts(project, "quick")
    work(plan_run(project, "scripted", {}))
    time.sleep(0.2)
    batch = Batch.objects.get()
    assert (batch.is_unfinished, batch.leased_until) == (False, None)


def test_evaluator_is_loaded_once_for_all_batches(monkeypatch):
    run = make_run(monkeypatch, batches=2)
    assert evaluator_of(run.setup) is evaluator_of(Setup.objects.get())


def test_only_a_few_evaluators_stay_loaded():
    project = make_project()
    texts(project, "text")
    setups = [plan_run(project, "scripted", {"delay_s": str(delay)}).setup for delay in (0, 0.01, 0.02)]
    first = evaluator_of(setups[0])
    for setup in setups[1:]:
        evaluator_of(setup)
    assert len(worker._loaded) == 2
    assert evaluator_of(setups[0]) is not first


def test_worker_refuses_a_run_whose_numbers_would_differ(monkeypatch):
    run = make_run(monkeypatch)
    monkeypatch.setattr("scoring.evaluators.length.Length.version", 2)
    assert work(run).status == Run.Status.FAILED
    assert "differ from those planned" in run.failure
    assert not Score.objects.exists()


def test_run_fails_if_its_evaluator_no_longer_exists(monkeypatch):
    run = make_run(monkeypatch)
    others = {name: path for name, path in EVALUATORS.items() if name != "length"}
    monkeypatch.setattr("scoring.evaluators.EVALUATORS", others)  # the table itself must keep its order
    assert work(run).status == Run.Status.FAILED
    assert "no evaluator is called 'length'" in run.failure


def test_run_fails_if_texts_of_its_pool_have_changed():
    project = make_project()
    for value in ("yes", "no", "yes", "no"):
        rate(make_summary(project), attribution=value)
    params = {"model": "tiny", "dimensions": "attribution", "examples": "2"}
    run = plan_run(project, "ice", params)
    Article.objects.update(text="Something else.")
    assert work(run).status == Run.Status.FAILED
    assert "the pool's texts are different" in run.failure


class TestIce:
    """A real evaluator with a real server on a socket."""

    def plan(self, endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch) -> Run:
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        project = make_project()
        for value in ("yes", "no", "yes", "no", "yes"):
            rate(make_summary(project), attribution=value)
        params = {
            "model": "tiny",
            "base_url": endpoint.base_url,
            "dimensions": "attribution",
            "examples": "2",
        }
        return plan_run(project, "ice", params)

    def test_scores_and_replies_are_stored_and_examples_are_not_scored(self, monkeypatch):
        with ScriptedEndpoint(lambda _: Answer("0.25")) as endpoint:
            run = work(self.plan(endpoint, monkeypatch))
        assert run.status == Run.Status.DONE, run.failure
        seen = run.setup.seen_articles.values("pk")
        scored = Score.objects.computed().exclude(summary__article__in=seen)
        assert set(scored.values_list("dimension", "value", "explanation")) == {("attribution", 0.25, "0.25")}
        assert scored.count() == len(endpoint.asked) == 3
        unscored = Score.objects.filter(summary__article__in=seen)
        assert set(unscored.values_list("value", "reason")) == {(None, "article is in the in-context pool")}

    def test_unreadable_reply_is_stored_with_a_reason(self, monkeypatch):
        with ScriptedEndpoint(lambda _: Answer("I would rather not say")) as endpoint:
            work(self.plan(endpoint, monkeypatch))
        score = Score.objects.exclude(explanation="").first()
        assert score.value is None
        assert score.reason == "unparsable"
        assert score.explanation == "I would rather not say"

    def test_outage_postpones_the_batch_and_a_wrong_key_fails_the_run(self, monkeypatch):
        answers = [Answer(status=503)]
        with ScriptedEndpoint(lambda _: answers[0]) as endpoint:
            run = work(self.plan(endpoint, monkeypatch))
            assert run.status == Run.Status.RUNNING
            assert Batch.objects.filter(not_before__isnull=False).count() == 1
            answers[0] = Answer(status=401)
            Batch.objects.update(not_before=None)
            run = work(run)
        assert run.status == Run.Status.FAILED
        assert "401" in run.failure
