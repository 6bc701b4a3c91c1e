"""Work on requests submitted as batches: every reply is stored and paid for once."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from annotation.models import Summary
from scoring.batch_api import batch_api_worker
from scoring.batch_api import batch_api_worker as collecting
from scoring.batch_api.batch_api_worker import work_on_api_batch
from scoring.errors import InvalidRun, RunBusy
from scoring.models import ApiBatch, Batch, EndpointModel, Run, Score, StoredReply
from scoring.replies.budgets import set_budget, spending_of
from scoring.runs import worker
from scoring.runs.lifecycle import cancel_run, delete_run, resume_run
from scoring.runs.planning import plan, start
from scoring.runs.worker import NOT_ANSWERED
from scoring.workers import wake_ups
from tests.factories import make_member, make_project, make_summary
from tests.scoring.asking_projects import asking_plan, asking_project, asking_run
from tests.scoring.batch_api.batch_runs import batch_run, work_once, work_until_done
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db

USED = (100, 2)
COST = Decimal("0.000102")  # per reply, at one dollar per million tokens


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    worker._loaded.clear()
    with ScriptedEndpoint(lambda _: Answer("0.5", usage=USED), takes_batches=True) as server:
        yield server
    worker._loaded.clear()


def manager(run):
    return make_member(run.setup.project, "manager")


def values(run):
    return list(Score.objects.filter(run=run, value__isnull=False).values_list("value", flat=True))


def reasons(run):
    """Return the reasons of unscored summaries, without the example's."""
    asked = Score.objects.filter(run=run, value=None).exclude(summary__text="The example.")
    return list(asked.values_list("reason", flat=True))


def test_run_is_scored_from_a_submitted_batch(endpoint):
    run = work_until_done(batch_run(asking_project(20), endpoint))
    assert run.status == Run.Status.DONE, run.failure
    assert values(run) == [0.5] * 20
    assert len(endpoint.lines) == 20
    assert not endpoint.asked, "no request was sent at the full price"
    [api_batch] = run.api_batches.all()
    assert (api_batch.state, api_batch.number, api_batch.answered) == (ApiBatch.State.DONE, 20, 20)
    assert (run.prompt_tokens, run.completion_tokens, run.spent) == (2000, 40, 20 * COST)
    assert not run.reservations.exists()


def test_run_waits_for_the_batch_and_stores_when_it_was_checked(endpoint):
    run = work_once(batch_run(asking_project(3), endpoint))
    [api_batch] = run.api_batches.all()
    assert run.status == Run.Status.RUNNING
    assert (api_batch.state, api_batch.remote_id) == (ApiBatch.State.UNDER_WAY, "batch_0")
    assert api_batch.submitted_at
    assert not api_batch.checked_at
    work_once(run)
    api_batch.refresh_from_db()
    assert api_batch.checked_at
    assert not Batch.objects.filter(run=run, finished_at__isnull=False).exists()


def test_stored_replies_are_not_submitted_again(endpoint):
    project = asking_project(5)
    worker.work_on_run(asking_run(project, endpoint).pk, slice_s=600)
    Score.objects.all().delete()
    run = work_until_done(batch_run(project, endpoint))
    assert run.status == Run.Status.DONE
    assert values(run) == [0.5] * 5
    assert not endpoint.lines
    assert not run.api_batches.exists()


def test_worker_checks_the_models_capabilities_first(endpoint):
    project = asking_project(2)
    run = work_until_done(start(asking_plan(project, endpoint), delivery=Run.Delivery.BATCH))
    assert run.status == Run.Status.DONE
    assert EndpointModel.objects.get().abilities["batches"] is True


@pytest.mark.parametrize(("mode", "lines"), [("samples", 3), ("expected", 1)])
def test_every_endpoint_mode_can_use_the_batch_api(endpoint, mode, lines):
    endpoint.answer = lambda _: Answer("3", probabilities={"3": 0.5, "4": 0.5})
    params = {"mode": mode, "marks": "1-5"} | ({"samples": 3, "temperature": 1.0} if lines > 1 else {})
    project = asking_project(2)
    run = start(asking_plan(project, endpoint, **params), delivery=Run.Delivery.BATCH)
    EndpointModel.objects.update(abilities={"logprobs": 20, "temperature": True, "batches": True})
    run = work_until_done(run)
    assert run.status == Run.Status.DONE, run.failure
    assert len(values(run)) == 2, reasons(run)
    assert len(endpoint.lines) == 2 * lines


def test_many_requests_are_submitted_in_several_batches(endpoint, monkeypatch):
    monkeypatch.setattr(collecting, "MOST_REQUESTS", 20)
    monkeypatch.setattr("scoring.runs.planning.FIRST_BATCH", 8)
    monkeypatch.setattr("scoring.evaluators.ice.Ice.batch_size", 8)
    run = work_until_done(batch_run(asking_project(40), endpoint))
    assert run.status == Run.Status.DONE
    assert sorted(run.api_batches.values_list("number", flat=True)) == [9, 15, 16]
    assert len(set(map(str, endpoint.lines))) == len(endpoint.lines) == 40
    assert len(values(run)) == 40


class TestUnanswered:
    def test_expired_requests_are_submitted_once_more(self, endpoint):
        endpoint.batches.expired = {1}
        run = work_once(batch_run(asking_project(3), endpoint))
        while run.api_batches.unfinished().filter(round=1).exists():
            work_once(run)
        endpoint.batches.expired = set()
        work_until_done(run)
        assert values(run) == [0.5] * 3
        assert len(endpoint.lines) == 4
        assert list(run.api_batches.values_list("state", "round", "number", "answered")) == [
            ("expired", 1, 3, 2),
            ("done", 2, 1, 1),
        ]

    def test_request_that_failed_twice_stays_unscored_and_is_not_sent_at_full_price(self, endpoint):
        endpoint.answer = lambda asked: (
            Answer(status=500) if "number 1." in asked.prompt.rsplit("Summary:", 1)[1] else Answer(usage=USED)
        )
        run = work_until_done(batch_run(asking_project(3), endpoint))
        assert run.status == Run.Status.DONE
        assert values(run) == [0.75] * 2
        assert reasons(run) == [NOT_ANSWERED]
        assert not endpoint.asked
        assert [each.reasons for each in run.api_batches.all()] == [{"scripted 500": 1}] * 2
        assert run.spent == 2 * COST
        assert not run.reservations.exists()

    def test_run_fails_with_the_endpoints_message_if_it_rejects_the_batch(self, endpoint):
        run = work_once(batch_run(asking_project(2), endpoint))
        batch = endpoint.batches.batches["batch_0"]
        full = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}
        batch |= {"status": "failed", "errors": {"object": "list", "data": [full]}}
        work_once(run)
        assert run.status == Run.Status.FAILED
        assert "Enqueued token limit reached" in run.failure
        assert not run.reservations.exists()
        assert not Score.objects.exists()
        resume_run(run, manager(run))
        assert values(work_until_done(run)) == [0.5] * 2

    def test_lost_batch_may_have_cost_everything(self, endpoint):
        run = work_once(batch_run(asking_project(2), endpoint))
        endpoint.batches.batches.clear()
        work_once(run)
        assert run.status == Run.Status.FAILED
        assert "404" in run.failure
        assert spending_of(run).bound > 0
        assert not run.api_batches.unfinished().exists()


class TestCancelling:
    def test_cancelling_keeps_and_counts_the_replies_that_arrived(self, endpoint):
        endpoint.batches.done_before_cancel = 2
        run = work_once(batch_run(asking_project(5), endpoint))
        cancel_run(run, manager(run))
        with pytest.raises(RunBusy, match="endpoint still has requests"):
            delete_run(run, manager(run))
        work_until_done(run)
        [api_batch] = run.api_batches.all()
        assert api_batch.state == ApiBatch.State.CANCELLED
        assert api_batch.cancel_requested_at
        assert run.status == Run.Status.CANCELLED
        assert (StoredReply.objects.count(), run.spent) == (2, 2 * COST)
        assert not run.reservations.exists()

        resume_run(run, manager(run))
        work_until_done(run)
        assert values(run) == [0.5] * 5
        assert len(endpoint.lines) == 5 + 3
        assert run.spent == 5 * COST

    def test_run_cancelled_before_submission_sends_nothing(self, endpoint):
        run = batch_run(asking_project(2), endpoint)
        cancel_run(run, manager(run))
        work_until_done(run)
        assert not endpoint.batches.files
        assert run.api_batches.get().state == ApiBatch.State.CANCELLED
        delete_run(run, manager(run))

    def test_failed_run_with_a_submitted_batch_can_be_cancelled(self, endpoint):
        run = work_once(batch_run(asking_project(2), endpoint))
        Run.objects.filter(pk=run.pk).update(status=Run.Status.FAILED)
        cancel_run(run, manager(run))
        work_until_done(run)
        delete_run(run, manager(run))

    def test_resumed_run_waits_for_the_batch_being_cancelled(self, endpoint):
        run = work_once(batch_run(asking_project(2), endpoint))
        cancel_run(run, manager(run))
        work_once(run)
        resume_run(run, manager(run))
        assert run.api_batches.count() == 1
        work_until_done(run)
        assert values(run) == [0.5] * 2


class TestMoney:
    def test_run_pauses_if_the_budget_does_not_cover_all_requests(self, endpoint):
        run = work_once(batch_run(asking_project(4), endpoint, Decimal("0.0001")))
        assert run.status == Run.Status.PAUSED
        assert "the 4 requests to submit may cost" in run.failure
        assert not endpoint.batches.files
        assert not run.reservations.exists()
        set_budget(run, Decimal(1), manager(run))
        resume_run(run, manager(run))
        work_until_done(run)
        assert values(run) == [0.5] * 4

    def test_money_stays_reserved_for_as_long_as_the_batch_may_take(self, endpoint):
        run = work_once(batch_run(asking_project(4), endpoint, Decimal(1)))
        spending = spending_of(run)
        assert spending.under_way > 0
        assert run.reservations.get().until > timezone.now() + timedelta(hours=24)
        assert (spending.spent, spending.lost) == (0, 0)

    def test_run_with_a_budget_pauses_if_the_price_was_removed(self, endpoint):
        run = batch_run(asking_project(2), endpoint, Decimal(1))
        EndpointModel.objects.update(input_price=None, output_price=None)
        work_once(run)
        assert run.status == Run.Status.PAUSED
        assert "needs a price" in run.failure
        assert not endpoint.batches.files

    def test_replies_to_changed_texts_are_counted_but_not_stored(self, endpoint):
        run = work_once(batch_run(asking_project(3), endpoint))
        Summary.objects.filter(text="Summary number 1.").update(text="Another text.")
        while run.api_batches.unfinished().filter(round=1).exists():
            work_once(run)
        first = run.api_batches.get(round=1)
        assert first.reasons == {"the summary's texts changed after submission": 1}
        assert (run.spent, StoredReply.objects.count()) == (3 * COST, 2)
        work_until_done(run)
        assert values(run) == [0.5] * 3


class TestOutages:
    def test_worker_checks_again_later_if_the_endpoint_is_down(self, endpoint):
        run = work_once(batch_run(asking_project(2), endpoint))
        endpoint.takes_batches = False  # answers 501
        for _ in range(batch_api_worker.MOST_ATTEMPTS + 1):
            work_once(run)
        api_batch = run.api_batches.get()
        assert api_batch.state == ApiBatch.State.UNDER_WAY
        assert "501" in api_batch.failure
        endpoint.takes_batches = True
        if not run.is_unfinished:
            resume_run(run, manager(run))
        assert values(work_until_done(run)) == [0.5] * 2
        assert len(endpoint.lines) == 2

    def test_started_batch_without_a_stored_id_is_found(self, endpoint):
        """The worker may be killed after the endpoint started the batch and before the id is stored."""
        run = work_once(batch_run(asking_project(3), endpoint))
        run.api_batches.update(state=ApiBatch.State.WAITING, remote_id="", submitted_at=None)
        work_until_done(run)
        assert list(endpoint.batches.batches) == ["batch_0"]
        assert values(run) == [0.5] * 3

    def test_replies_stored_before_a_worker_died_are_not_counted_twice(self, endpoint, monkeypatch):
        run = batch_run(asking_project(3), endpoint)
        work_once(work_once(run))

        def dies(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(batch_api_worker, "_end", dies)
        with pytest.raises(KeyboardInterrupt):
            work_once(run)
        assert StoredReply.objects.count() == 3
        monkeypatch.undo()
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        run.api_batches.update(leased_until=timezone.now() - timedelta(seconds=1))
        work_until_done(run)
        assert (run.spent, len(values(run))) == (3 * COST, 3)

    def test_batch_leased_by_another_worker_is_left_alone(self, endpoint):
        run = batch_run(asking_project(1), endpoint)
        run.api_batches.update(token="another", leased_until=timezone.now() + timedelta(seconds=60))
        work_on_api_batch(run.api_batches.get().pk)
        assert not endpoint.batches.files


class TestWaking:
    @pytest.fixture
    def swept(self, sent, django_capture_on_commit_callbacks):
        """Return a function that runs the sweep and lists the tasks it sent to workers."""

        def sweep():
            sent("llm")
            with django_capture_on_commit_callbacks(execute=True):
                wake_ups.wake_waiting_runs()
                wake_ups.wake_waiting_api_batches()
            return [(each["task"], each["args"][0]) for each in sent("llm")]

        return sweep

    def test_sweep_checks_due_batches_and_does_not_wake_the_run(self, endpoint, swept):
        run = work_once(batch_run(asking_project(1), endpoint))
        assert swept() == []
        run.api_batches.update(not_before=timezone.now() - timedelta(seconds=1))
        assert swept() == [("scoring.tasks.work_on_api_batch", run.api_batches.get().pk)]

    def test_unsubmitted_batch_waits_while_the_run_is_paused(self, endpoint, swept):
        run = work_once(batch_run(asking_project(1), endpoint, Decimal("0.0001")))
        assert run.status == Run.Status.PAUSED
        run.api_batches.update(not_before=None)
        assert swept() == []
        resume_run(run, manager(run))
        assert swept() == [("scoring.tasks.work_on_api_batch", run.api_batches.get().pk)]

    def test_worker_claims_no_summaries_while_the_batch_is_under_way(self, endpoint):
        run = work_once(batch_run(asking_project(1), endpoint))
        worker.work_on_run(run.pk)
        assert set(run.batches.values_list("attempts", flat=True)) == {0}


class TestRefusals:
    def test_endpoint_known_to_have_no_batch_api_is_refused(self, endpoint):
        project = asking_project(1)
        batch_run(project, endpoint)
        EndpointModel.objects.update(abilities={"batches": False})
        with pytest.raises(InvalidRun, match=r"^delivery: a test found no batch API at this endpoint"):
            start(asking_plan(project, endpoint, seed=9), delivery=Run.Delivery.BATCH)

    def test_run_fails_if_the_endpoint_turns_out_to_have_no_batch_api(self, endpoint):
        endpoint.takes_batches = False
        run = work_once(start(asking_plan(asking_project(1), endpoint), delivery=Run.Delivery.BATCH))
        assert run.status == Run.Status.FAILED
        assert "no batch API" in run.failure

    def test_evaluator_without_an_endpoint_is_refused(self):
        project = make_project()
        make_summary(project)
        with pytest.raises(InvalidRun, match="uses no endpoint"):
            start(plan(project, "length", {}), delivery=Run.Delivery.BATCH)
