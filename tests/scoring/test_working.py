"""What a worker makes of a run: scores, reasons, failures."""

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from annotation.models import Article, Project
from scoring import working
from scoring.contract import GENERAL, Evaluator, EvaluatorError, Item, Scored
from scoring.evaluators import EVALUATORS
from scoring.models import Batch, EvaluatorSetup, Run, Score
from scoring.params import param
from scoring.planning import plan_run
from scoring.runs import claim_batch, resume_run
from scoring.working import MOST_ATTEMPTS, evaluator_of, work_on_run
from tests.factories import make_member, make_project, make_summary
from tests.scoring.claims import make_run
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint
from tests.scoring.test_planning import rate

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_loaded() -> Iterator[None]:
    working._loaded.clear()
    yield
    working._loaded.clear()


@dataclass
class Outside:
    """The world outside of `Trying`: what it does to a summary with this text."""

    failures: dict[str, Exception]
    asked: list[str]


outside = Outside({}, [])


class Trying(Evaluator):
    """Fails as the test says: a real evaluator of this test alone."""

    name, title, version, source = "trying", "Trying", 1, "a test"
    batch_size = 1

    @dataclass(frozen=True)
    class Params:
        delay_s: float = param(0.0, doc="Seconds that each batch takes.")

    params: Params

    def score(self, items: Sequence[Item]) -> list[Scored]:
        time.sleep(self.params.delay_s)
        for item in items:
            outside.asked.append(item.summary)
            if item.summary in outside.failures:
                raise outside.failures[item.summary]
        return [Scored.of({GENERAL: float(len(item.summary))}) for item in items]


@pytest.fixture(autouse=True)
def trying(monkeypatch: pytest.MonkeyPatch) -> Outside:
    monkeypatch.setitem(EVALUATORS, "trying", f"{__name__}.Trying")
    monkeypatch.setattr(f"{__name__}.outside", Outside({}, []))
    return outside


UNCUT_S = 600
"""A slice that a busy machine does not end in the middle of a test."""


def texts(project: Project, *texts: str) -> None:
    """One summary with each text, to be scored in this order."""
    for text in texts:
        make_summary(project, text=text)


def work(run: Run, until_settled: bool = False) -> Run:
    """Work on the run; with `until_settled` as long as postponed batches are left, without the wait."""
    work_on_run(run.pk, slice_s=UNCUT_S)
    while until_settled and Batch.objects.filter(run=run, not_before__gt=timezone.now()).unfinished():
        Batch.objects.filter(run=run).update(not_before=None)
        work_on_run(run.pk, slice_s=UNCUT_S)
        if not Run.objects.get(pk=run.pk).is_unfinished:
            break
    run.refresh_from_db()
    return run


def test_it_scores_every_batch_and_finishes_the_run(monkeypatch):
    run = work(make_run(monkeypatch, batches=3))
    assert run.status == Run.Status.DONE
    assert Score.objects.computed().filter(run=run).count() == 6


def test_a_second_wake_up_does_nothing(monkeypatch):
    run = work(make_run(monkeypatch))
    before = Project.objects.get().revision
    work(run)
    assert Project.objects.get().revision == before


def test_a_wake_up_for_a_run_that_was_deleted_does_nothing():
    work_on_run(4711)


def test_scores_are_the_evaluators_whatever_the_batch(monkeypatch):
    project = make_project()
    make_run(monkeypatch, batches=5, size=3, project=project)
    work(Run.objects.get())
    for score in Score.objects.select_related("summary"):
        assert score.value == len(score.summary.text.split())


def test_it_lets_others_have_their_turn_after_its_slice(
    monkeypatch, sent, django_capture_on_commit_callbacks
):
    run = make_run(monkeypatch, batches=3)
    with django_capture_on_commit_callbacks(execute=True):
        work_on_run(run.pk, slice_s=0)
    assert Batch.objects.filter(state=Batch.State.DONE).count() == 1
    assert [message["args"] for message in sent("cpu")] == [[run.pk]]


def test_a_failure_that_may_pass_is_tried_again_later(trying):
    project = make_project()
    texts(project, "good", "bad")
    trying.failures["bad"] = EvaluatorError("no answer", permanent=False)
    run = work(plan_run(project, "trying", {}))
    assert run.status == Run.Status.RUNNING
    assert set(Score.objects.values_list("summary__text", "value")) == {("good", 4.0)}
    waiting = Batch.objects.unfinished().get()
    assert (waiting.state, waiting.attempts) == (Batch.State.WAITING, 1)
    assert waiting.not_before > timezone.now()
    trying.failures.clear()
    assert work(run, until_settled=True).status == Run.Status.DONE
    assert Score.objects.get(summary__text="bad").value == 3.0


def test_a_failure_that_does_not_pass_leaves_its_summaries_with_the_reason(trying):
    project = make_project()
    texts(project, "good", "bad")
    trying.failures["bad"] = EvaluatorError("no answer", permanent=False)
    run = work(plan_run(project, "trying", {}), until_settled=True)
    assert run.status == Run.Status.DONE
    assert Score.objects.get(summary__text="bad").reason == "no answer (5 attempts)"
    assert trying.asked.count("bad") == MOST_ATTEMPTS
    assert trying.asked.count("good") == 1


def test_a_run_whose_batches_all_fail_is_ended_for_a_resumption(trying):
    project = make_project()
    names = [f"summary {number}" for number in range(8)]
    texts(project, *names)
    trying.failures |= dict.fromkeys(names, EvaluatorError("no answer", permanent=False))
    run = work(plan_run(project, "trying", {}), until_settled=True)
    assert run.status == Run.Status.FAILED
    assert run.failure == "4 batches failed one after the other: no answer"
    assert Score.objects.count() == 3
    trying.failures.clear()
    resume_run(run, make_member(project, "manager"))
    assert work(run).status == Run.Status.DONE
    assert Score.objects.computed().count() == 5


def test_a_permanent_failure_ends_the_run_with_its_message(trying):
    project = make_project()
    texts(project, "good", "bad", "never reached")
    trying.failures["bad"] = EvaluatorError("wrong key", permanent=True)
    run = work(plan_run(project, "trying", {}))
    assert (run.status, run.failure) == (Run.Status.FAILED, "wrong key")
    assert list(Score.objects.values_list("summary__text", flat=True)) == ["good"]
    assert trying.asked == ["good", "bad"]
    trying.failures.clear()
    resume_run(run, make_member(project, "manager"))
    assert work(run).status == Run.Status.DONE
    assert trying.asked == ["good", "bad", "bad", "never reached"], "what was scored is not scored again"


def test_an_unexpected_error_ends_the_run_and_its_traceback_stays_in_the_log(trying, caplog):
    project = make_project()
    texts(project, "bad")
    trying.failures["bad"] = ZeroDivisionError("division by zero\nsecond line")
    with caplog.at_level(logging.ERROR):
        run = work(plan_run(project, "trying", {}))
    assert run.status == Run.Status.FAILED
    assert run.failure == "Unexpected ZeroDivisionError: division by zero (the worker's log has the details)"
    assert "Traceback" in caplog.text
    assert Batch.objects.get().state == Batch.State.WAITING


def test_lack_of_memory_is_tried_again_and_then_is_the_reason(trying):
    project = make_project()
    texts(project, "good", "bad")
    trying.failures["bad"] = MemoryError()
    run = work(plan_run(project, "trying", {}), until_settled=True)
    assert run.status == Run.Status.DONE
    assert Score.objects.get(summary__text="bad").reason == "out of memory (5 attempts)"


def test_a_database_that_is_busy_does_not_fail_the_run(trying, monkeypatch):
    monkeypatch.setattr(working, "RECORDING_PAUSE_S", 0)
    project = make_project()
    texts(project, "good")
    calls = []

    def busy_twice(*args):
        calls.append(args)
        if len(calls) < 3:
            raise OperationalError("deadlock detected")
        return real(*args)

    real = working.record_scores
    monkeypatch.setattr(working, "record_scores", busy_twice)
    assert work(plan_run(project, "trying", {})).status == Run.Status.DONE
    assert trying.asked == ["good"]


def test_a_database_that_stays_busy_gives_the_batch_back(trying, monkeypatch):
    monkeypatch.setattr(working, "RECORDING_PAUSE_S", 0)
    project = make_project()
    texts(project, "good")

    def busy(*args):
        raise OperationalError("database is locked")

    monkeypatch.setattr(working, "record_scores", busy)
    run = work(plan_run(project, "trying", {}))
    assert run.status == Run.Status.RUNNING
    assert Batch.objects.get().state == Batch.State.WAITING


def test_a_batch_that_kills_its_worker_each_time_is_given_up(trying):
    project = make_project()
    texts(project, "deadly")
    run = plan_run(project, "trying", {})
    for days in range(MOST_ATTEMPTS, 0, -1):
        assert claim_batch(run.pk, now=timezone.now() - timedelta(days=days))
    assert work(run).status == Run.Status.DONE
    assert Score.objects.get().reason == "the worker stopped each time, perhaps short of memory (5 attempts)"
    assert trying.asked == []


@pytest.mark.django_db(transaction=True)
def test_a_claim_is_renewed_while_a_long_batch_is_scored(settings):
    settings.CLAIM_LEASE_S = 0.3
    project = make_project()
    texts(project, "slow")
    run = plan_run(project, "trying", {"delay_s": "1.2"})
    assert work(run).status == Run.Status.DONE
    assert Batch.objects.get().attempts == 1


@pytest.mark.django_db(transaction=True)
def test_a_claim_is_not_renewed_once_its_batch_is_done(settings):
    settings.CLAIM_LEASE_S = 0.1
    project = make_project()
    texts(project, "quick")
    work(plan_run(project, "trying", {}))
    time.sleep(0.2)
    batch = Batch.objects.get()
    assert (batch.state, batch.claimed_until) == (Batch.State.DONE, None)


def test_an_evaluator_is_loaded_once_for_all_batches(monkeypatch):
    run = make_run(monkeypatch, batches=2)
    assert evaluator_of(run.setup) is evaluator_of(EvaluatorSetup.objects.get())


def test_only_a_few_evaluators_stay_loaded():
    project = make_project()
    texts(project, "text")
    setups = [plan_run(project, "trying", {"delay_s": str(delay)}).setup for delay in (0, 0.01, 0.02)]
    first = evaluator_of(setups[0])
    for setup in setups[1:]:
        evaluator_of(setup)
    assert len(working._loaded) == 2
    assert evaluator_of(setups[0]) is not first


def test_a_worker_that_would_compute_other_numbers_refuses(monkeypatch):
    run = make_run(monkeypatch)
    monkeypatch.setattr("scoring.evaluators.length.Length.version", 2)
    assert work(run).status == Run.Status.FAILED
    assert "not be those that were planned" in run.failure
    assert not Score.objects.exists()


def test_an_evaluator_that_is_gone_ends_the_run(monkeypatch):
    run = make_run(monkeypatch)
    others = {name: path for name, path in EVALUATORS.items() if name != "length"}
    monkeypatch.setattr("scoring.evaluators.EVALUATORS", others)  # the table itself must keep its order
    assert work(run).status == Run.Status.FAILED
    assert "no evaluator is called 'length'" in run.failure


def test_a_pool_whose_texts_have_changed_ends_the_run():
    project = make_project()
    for value in ("yes", "no", "yes", "no"):
        rate(make_summary(project), attribution=value)
    params = {"model": "tiny", "dimensions": "attribution", "examples": "2"}
    run = plan_run(project, "ice", params)
    Article.objects.update(text="Something else.")
    assert work(run).status == Run.Status.FAILED
    assert "the pool's texts are different" in run.failure


class TestIce:
    """A real evaluator against a real server on a socket."""

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

    def test_its_scores_and_replies_are_stored_and_its_examples_are_not_scored(self, monkeypatch):
        with ScriptedEndpoint(lambda _: Answer("0.25")) as endpoint:
            run = work(self.plan(endpoint, monkeypatch))
        assert run.status == Run.Status.DONE, run.failure
        seen = run.setup.seen_articles.values("pk")
        scored = Score.objects.computed().exclude(summary__article__in=seen)
        assert set(scored.values_list("dimension", "value", "explanation")) == {("attribution", 0.25, "0.25")}
        assert scored.count() == len(endpoint.asked) == 3
        unscored = Score.objects.filter(summary__article__in=seen)
        assert set(unscored.values_list("value", "reason")) == {(None, "article is in the in-context pool")}

    def test_an_unreadable_reply_is_a_reason_beside_the_reply(self, monkeypatch):
        with ScriptedEndpoint(lambda _: Answer("I would rather not say")) as endpoint:
            work(self.plan(endpoint, monkeypatch))
        score = Score.objects.exclude(explanation="").first()
        assert score.value is None
        assert score.reason == "unparsable"
        assert score.explanation == "I would rather not say"

    def test_an_outage_postpones_and_a_wrong_key_ends_the_run(self, monkeypatch):
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
