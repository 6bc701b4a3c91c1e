"""Requests handed in as batches: paid once, counted, and taken in, whatever becomes of the batch."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from annotation.models import Summary
from scoring import waking, working
from scoring.delivery import collecting, delivering
from scoring.delivery.delivering import work_on_hand_in
from scoring.endpoints.budgets import set_budget, spending_of
from scoring.errors import InvalidRun, RunBusy
from scoring.models import Batch, EndpointModel, HandIn, Run, Score, StoredReply
from scoring.planning import plan, start
from scoring.runs import cancel_run, delete_run, resume_run
from scoring.working import NOT_ANSWERED
from tests.factories import make_member, make_project, make_summary
from tests.scoring.asking_projects import asking_plan, asking_project, asking_run
from tests.scoring.delivery.handed_in import batch_run, turn, turns
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db

USED = (100, 2)
COST = Decimal("0.000102")  # of a reply, at a dollar for a million tokens


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    working._loaded.clear()
    with ScriptedEndpoint(lambda _: Answer("0.5", usage=USED), takes_batches=True) as server:
        yield server
    working._loaded.clear()


def manager(run):
    return make_member(run.setup.project, "manager")


def values(run):
    return list(Score.objects.filter(run=run, value__isnull=False).values_list("value", flat=True))


def reasons(run):
    """Of summaries that were asked about; the example's is another."""
    asked = Score.objects.filter(run=run, value=None).exclude(summary__text="The example.")
    return list(asked.values_list("reason", flat=True))


def test_a_run_is_scored_from_what_was_handed_in(endpoint):
    run = turns(batch_run(asking_project(20), endpoint))
    assert run.status == Run.Status.DONE, run.failure
    assert values(run) == [0.5] * 20
    assert len(endpoint.lines) == 20
    assert not endpoint.asked, "nothing was asked at the full price"
    [hand_in] = run.hand_ins.all()
    assert (hand_in.state, hand_in.number, hand_in.answered) == (HandIn.State.DONE, 20, 20)
    assert (run.prompt_tokens, run.completion_tokens, run.spent) == (2000, 40, 20 * COST)
    assert not run.reservations.exists()


def test_until_it_is_answered_the_run_waits_and_says_so(endpoint):
    run = turn(batch_run(asking_project(3), endpoint))
    [hand_in] = run.hand_ins.all()
    assert run.status == Run.Status.RUNNING
    assert (hand_in.state, hand_in.remote_id) == (HandIn.State.UNDER_WAY, "batch_0")
    assert hand_in.handed_in_at
    assert not hand_in.looked_at
    turn(run)
    hand_in.refresh_from_db()
    assert hand_in.looked_at
    assert not Batch.objects.filter(run=run, state=Batch.State.DONE).exists()


def test_replies_that_are_there_are_not_handed_in(endpoint):
    project = asking_project(5)
    working.work_on_run(asking_run(project, endpoint).pk, slice_s=600)
    Score.objects.all().delete()
    run = turns(batch_run(project, endpoint))
    assert run.status == Run.Status.DONE
    assert values(run) == [0.5] * 5
    assert not endpoint.lines
    assert not run.hand_ins.exists()


def test_what_the_model_can_do_is_found_out_first(endpoint):
    project = asking_project(2)
    run = turns(start(asking_plan(project, endpoint), delivery=Run.Delivery.BATCH))
    assert run.status == Run.Status.DONE
    assert EndpointModel.objects.get().abilities["batches"] is True


@pytest.mark.parametrize(("mode", "lines"), [("samples", 3), ("expected", 1)])
def test_every_mode_that_goes_over_the_wire_can_be_handed_in(endpoint, mode, lines):
    endpoint.answer = lambda _: Answer("3", probabilities={"3": 0.5, "4": 0.5})
    params = {"mode": mode, "marks": "1-5"} | ({"samples": 3, "temperature": 1.0} if lines > 1 else {})
    project = asking_project(2)
    run = start(asking_plan(project, endpoint, **params), delivery=Run.Delivery.BATCH)
    EndpointModel.objects.update(abilities={"logprobs": 20, "temperature": True, "batches": True})
    run = turns(run)
    assert run.status == Run.Status.DONE, run.failure
    assert len(values(run)) == 2, reasons(run)
    assert len(endpoint.lines) == 2 * lines


def test_many_requests_are_handed_in_as_several(endpoint, monkeypatch):
    monkeypatch.setattr(collecting, "MOST_REQUESTS", 20)
    monkeypatch.setattr("scoring.planning.FIRST_BATCH", 8)
    monkeypatch.setattr("scoring.evaluators.ice.Ice.batch_size", 8)
    run = turns(batch_run(asking_project(40), endpoint))
    assert run.status == Run.Status.DONE
    assert sorted(run.hand_ins.values_list("number", flat=True)) == [9, 15, 16]
    assert len(set(map(str, endpoint.lines))) == len(endpoint.lines) == 40
    assert len(values(run)) == 40


class TestUnanswered:
    def test_what_came_too_late_is_handed_in_once_more(self, endpoint):
        endpoint.batches.expired = {1}
        run = turn(batch_run(asking_project(3), endpoint))
        while run.hand_ins.open().filter(round=1).exists():
            turn(run)
        endpoint.batches.expired = set()
        turns(run)
        assert values(run) == [0.5] * 3
        assert len(endpoint.lines) == 4
        assert list(run.hand_ins.values_list("state", "round", "number", "answered")) == [
            ("expired", 1, 3, 2),
            ("done", 2, 1, 1),
        ]

    def test_what_is_refused_twice_stays_unscored_and_is_not_asked_at_full_price(self, endpoint):
        endpoint.answer = lambda asked: (
            Answer(status=500) if "number 1." in asked.prompt.rsplit("Summary:", 1)[1] else Answer(usage=USED)
        )
        run = turns(batch_run(asking_project(3), endpoint))
        assert run.status == Run.Status.DONE
        assert values(run) == [0.75] * 2
        assert reasons(run) == [NOT_ANSWERED]
        assert not endpoint.asked
        assert [each.reasons for each in run.hand_ins.all()] == [{"scripted 500": 1}] * 2
        assert run.spent == 2 * COST
        assert not run.reservations.exists()

    def test_a_batch_that_the_endpoint_does_not_take_fails_the_run_with_its_words(self, endpoint):
        run = turn(batch_run(asking_project(2), endpoint))
        batch = endpoint.batches.batches["batch_0"]
        full = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}
        batch |= {"status": "failed", "errors": {"object": "list", "data": [full]}}
        turn(run)
        assert run.status == Run.Status.FAILED
        assert "Enqueued token limit reached" in run.failure
        assert not run.reservations.exists()
        assert not Score.objects.exists()
        resume_run(run, manager(run))
        assert values(turns(run)) == [0.5] * 2

    def test_a_batch_that_is_not_there_any_more_may_have_cost_all(self, endpoint):
        run = turn(batch_run(asking_project(2), endpoint))
        endpoint.batches.batches.clear()
        turn(run)
        assert run.status == Run.Status.FAILED
        assert "404" in run.failure
        assert spending_of(run).bound > 0
        assert not run.hand_ins.open().exists()


class TestCancelling:
    def test_it_is_taken_back_and_what_came_is_kept_and_counted(self, endpoint):
        endpoint.batches.done_before_cancel = 2
        run = turn(batch_run(asking_project(5), endpoint))
        cancel_run(run, manager(run))
        with pytest.raises(RunBusy, match="handed in at the endpoint"):
            delete_run(run, manager(run))
        turns(run)
        [hand_in] = run.hand_ins.all()
        assert hand_in.state == HandIn.State.CANCELLED
        assert hand_in.withdrawn_at
        assert run.status == Run.Status.CANCELLED
        assert (StoredReply.objects.count(), run.spent) == (2, 2 * COST)
        assert not run.reservations.exists()

        resume_run(run, manager(run))
        turns(run)
        assert values(run) == [0.5] * 5
        assert len(endpoint.lines) == 5 + 3
        assert run.spent == 5 * COST

    def test_before_it_is_handed_in_nothing_leaves(self, endpoint):
        run = batch_run(asking_project(2), endpoint)
        cancel_run(run, manager(run))
        turns(run)
        assert not endpoint.batches.files
        assert run.hand_ins.get().state == HandIn.State.CANCELLED
        delete_run(run, manager(run))

    def test_a_failed_run_of_which_something_is_handed_in_can_be_cancelled(self, endpoint):
        run = turn(batch_run(asking_project(2), endpoint))
        Run.objects.filter(pk=run.pk).update(status=Run.Status.FAILED)
        cancel_run(run, manager(run))
        turns(run)
        delete_run(run, manager(run))

    def test_who_resumes_while_it_is_taken_back_waits_for_it(self, endpoint):
        run = turn(batch_run(asking_project(2), endpoint))
        cancel_run(run, manager(run))
        turn(run)
        resume_run(run, manager(run))
        assert run.hand_ins.count() == 1
        turns(run)
        assert values(run) == [0.5] * 2


class TestMoney:
    def test_all_of_it_is_set_aside_or_the_run_pauses(self, endpoint):
        run = turn(batch_run(asking_project(4), endpoint, Decimal("0.0001")))
        assert run.status == Run.Status.PAUSED
        assert "the 4 requests that are to be handed in together may cost" in run.failure
        assert not endpoint.batches.files
        assert not run.reservations.exists()
        set_budget(run, Decimal(1), manager(run))
        resume_run(run, manager(run))
        turns(run)
        assert values(run) == [0.5] * 4

    def test_it_stays_set_aside_as_long_as_the_batch_may_take(self, endpoint):
        run = turn(batch_run(asking_project(4), endpoint, Decimal(1)))
        spending = spending_of(run)
        assert spending.under_way > 0
        assert run.reservations.get().until > timezone.now() + timedelta(hours=24)
        assert (spending.spent, spending.lost) == (0, 0)

    def test_a_price_that_is_gone_pauses_a_run_with_a_budget(self, endpoint):
        run = batch_run(asking_project(2), endpoint, Decimal(1))
        EndpointModel.objects.update(input_price=None, output_price=None)
        turn(run)
        assert run.status == Run.Status.PAUSED
        assert "no price is known" in run.failure
        assert not endpoint.batches.files

    def test_replies_to_texts_that_have_changed_are_counted_and_not_kept(self, endpoint):
        run = turn(batch_run(asking_project(3), endpoint))
        Summary.objects.filter(text="Summary number 1.").update(text="Another text.")
        while run.hand_ins.open().filter(round=1).exists():
            turn(run)
        first = run.hand_ins.get(round=1)
        assert first.reasons == {"the summary's texts have changed since": 1}
        assert (run.spent, StoredReply.objects.count()) == (3 * COST, 2)
        turns(run)
        assert values(run) == [0.5] * 3


class TestOutages:
    def test_an_endpoint_that_is_away_is_looked_at_later(self, endpoint):
        run = turn(batch_run(asking_project(2), endpoint))
        endpoint.takes_batches = False  # answers 501
        for _ in range(delivering.MOST_ATTEMPTS + 1):
            turn(run)
        hand_in = run.hand_ins.get()
        assert hand_in.state == HandIn.State.UNDER_WAY
        assert "501" in hand_in.failure
        endpoint.takes_batches = True
        if not run.is_unfinished:
            resume_run(run, manager(run))
        assert values(turns(run)) == [0.5] * 2
        assert len(endpoint.lines) == 2

    def test_a_start_that_nobody_heard_of_is_found(self, endpoint):
        """As where the worker is killed between the start and the database."""
        run = turn(batch_run(asking_project(3), endpoint))
        run.hand_ins.update(state=HandIn.State.WAITING, remote_id="", handed_in_at=None)
        turns(run)
        assert list(endpoint.batches.batches) == ["batch_0"]
        assert values(run) == [0.5] * 3

    def test_replies_stored_before_a_worker_died_are_not_counted_twice(self, endpoint, monkeypatch):
        run = batch_run(asking_project(3), endpoint)
        turn(turn(run))

        def dies(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(delivering, "_end", dies)
        with pytest.raises(KeyboardInterrupt):
            turn(run)
        assert StoredReply.objects.count() == 3
        monkeypatch.undo()
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        run.hand_ins.update(claimed_until=timezone.now() - timedelta(seconds=1))
        turns(run)
        assert (run.spent, len(values(run))) == (3 * COST, 3)

    def test_a_hand_in_that_another_worker_has_is_left_alone(self, endpoint):
        run = batch_run(asking_project(1), endpoint)
        run.hand_ins.update(claimed_by="another", claimed_until=timezone.now() + timedelta(seconds=60))
        work_on_hand_in(run.hand_ins.get().pk)
        assert not endpoint.batches.files


class TestWaking:
    @pytest.fixture
    def swept(self, sent, django_capture_on_commit_callbacks):
        """What the sweep asks of workers."""

        def sweep():
            sent("llm")
            with django_capture_on_commit_callbacks(execute=True):
                waking.wake_waiting_runs()
                waking.wake_waiting_hand_ins()
            return [(each["task"], each["args"][0]) for each in sent("llm")]

        return sweep

    def test_the_sweep_has_what_is_due_looked_at_and_leaves_the_run_alone(self, endpoint, swept):
        run = turn(batch_run(asking_project(1), endpoint))
        assert swept() == []
        run.hand_ins.update(not_before=timezone.now() - timedelta(seconds=1))
        assert swept() == [("scoring.tasks.work_on_hand_in", run.hand_ins.get().pk)]

    def test_what_is_not_handed_in_waits_while_the_run_is_paused(self, endpoint, swept):
        run = turn(batch_run(asking_project(1), endpoint, Decimal("0.0001")))
        assert run.status == Run.Status.PAUSED
        run.hand_ins.update(not_before=None)
        assert swept() == []
        resume_run(run, manager(run))
        assert swept() == [("scoring.tasks.work_on_hand_in", run.hand_ins.get().pk)]

    def test_whoever_works_on_the_run_meanwhile_claims_nothing(self, endpoint):
        run = turn(batch_run(asking_project(1), endpoint))
        working.work_on_run(run.pk)
        assert set(run.batches.values_list("attempts", flat=True)) == {0}


class TestRefusals:
    def test_where_the_endpoint_is_known_to_have_none(self, endpoint):
        project = asking_project(1)
        batch_run(project, endpoint)
        EndpointModel.objects.update(abilities={"batches": False})
        with pytest.raises(InvalidRun, match=r"^delivery: the endpoint takes no batches"):
            start(asking_plan(project, endpoint, seed=9), delivery=Run.Delivery.BATCH)

    def test_where_it_is_found_to_have_none_the_run_fails(self, endpoint):
        endpoint.takes_batches = False
        run = turn(start(asking_plan(asking_project(1), endpoint), delivery=Run.Delivery.BATCH))
        assert run.status == Run.Status.FAILED
        assert "takes no batches" in run.failure

    def test_where_nothing_is_asked_of_an_endpoint(self):
        project = make_project()
        make_summary(project)
        with pytest.raises(InvalidRun, match="asks no endpoint"):
            start(plan(project, "length", {}), delivery=Run.Delivery.BATCH)
