"""A run's budget holds, whatever the number of workers, and whatever becomes of them."""

import threading
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.errors import NotAllowed
from scoring import working
from scoring.asking.request import Usage
from scoring.endpoints.budgets import (
    BudgetInUse,
    OutOfBudget,
    locked,
    release,
    reserve,
    set_budget,
    settle,
    spending_of,
)
from scoring.errors import InvalidRun
from scoring.models import Batch, EndpointModel, Reservation, Run, StoredReply
from scoring.planning import plan_run, start
from scoring.runs import cancel_run, renew_claim, resume_run
from scoring.working import work_on_run
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.scoring.asking_projects import asking_plan, asking_project, price
from tests.scoring.claims import claimed
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint
from tests.scoring.test_workers_at_once import in_threads

UNCUT_S = 600
COST = Decimal("0.01")
"""Of each reply of the endpoint."""


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    working._loaded.clear()
    with ScriptedEndpoint(lambda _: Answer("0.5", usage=(100, 0))) as server:
        yield server
    working._loaded.clear()


def budgeted(endpoint, summaries: int, budget: str) -> Run:
    """A run whose requests cost COST each, and two or three times as much at most."""
    project = asking_project(summaries)
    price(project, endpoint, "100", "0")
    return start(asking_plan(project, endpoint), budget=Decimal(budget))


def work(run: Run) -> Run:
    work_on_run(run.pk, slice_s=UNCUT_S)
    run.refresh_from_db()
    return run


def manager_of(run: Run):
    return make_member(run.setup.project, "manager")


@pytest.mark.django_db
class TestPausing:
    def test_a_run_whose_budget_suffices_ends(self, endpoint):
        run = work(budgeted(endpoint, 10, "1"))
        assert (run.status, run.spent) == (Run.Status.DONE, 10 * COST)

    def test_a_run_pauses_before_its_budget_is_overspent_and_says_what_is_needed(self, endpoint):
        run = work(budgeted(endpoint, 30, "0.1"))
        assert run.status == Run.Status.PAUSED
        assert run.finished_at is None
        asked = len(endpoint.asked)
        assert run.spent == asked * COST <= run.budget
        assert 5 <= asked < 10
        assert run.failure.startswith(
            f"$0.0{asked} of the budget of $0.10 is spent, and the next request may "
        )
        assert "to go on, a budget of at least $0." in run.failure
        assert StoredReply.objects.count() == asked
        assert not run.reservations.exists()

    def test_its_batch_waits_and_the_attempt_does_not_count(self, endpoint):
        run = work(budgeted(endpoint, 30, "0.1"))
        assert set(Batch.objects.filter(run=run).values_list("state", "attempts")) == {("waiting", 0)}

    def test_it_tells_about_what_the_whole_run_will_cost_once_that_is_known(self, endpoint):
        run = work(budgeted(endpoint, 60, "0.25"))
        assert run.batches.filter(state=Batch.State.DONE).count() == 1
        assert "for the whole run about $0." in run.failure

    def test_with_a_higher_budget_it_goes_on_where_it_stopped(self, endpoint):
        run = work(budgeted(endpoint, 30, "0.1"))
        manager = manager_of(run)
        set_budget(run, Decimal("1"), manager)
        resume_run(run, manager)
        run = work(run)
        assert (run.status, run.failure) == (Run.Status.DONE, "")
        assert len(endpoint.asked) == 30
        assert run.spent == 30 * COST

    def test_without_a_limit_too(self, endpoint):
        run = work(budgeted(endpoint, 30, "0.1"))
        manager = manager_of(run)
        set_budget(run, None, manager)
        resume_run(run, manager)
        assert work(run).status == Run.Status.DONE

    def test_with_the_same_budget_it_pauses_again_and_asks_nothing(self, endpoint):
        run = work(budgeted(endpoint, 30, "0.1"))
        asked = len(endpoint.asked)
        resume_run(run, manager_of(run))
        assert work(run).status == Run.Status.PAUSED
        assert len(endpoint.asked) == asked

    def test_what_is_spent_already_is_no_new_budget(self, endpoint):
        run = work(budgeted(endpoint, 30, "0.1"))
        with pytest.raises(InvalidRun, match=r"found \$0\.05, expected more than"):
            set_budget(run, Decimal("0.05"), manager_of(run))
        run.refresh_from_db()
        assert run.budget == Decimal("0.1")

    def test_more_tokens_than_were_reckoned_with_are_told(self, endpoint):
        endpoint.answer = lambda _: Answer(usage=(100_000, 4))
        run = work(budgeted(endpoint, 30, "0.1"))
        assert run.status == Run.Status.PAUSED
        assert run.spent > Decimal("0.1")
        assert "the endpoint reported more tokens than its requests were reckoned at" in run.failure

    def test_it_can_be_cancelled(self, endpoint):
        run = work(budgeted(endpoint, 30, "0.1"))
        cancel_run(run, manager_of(run))
        run.refresh_from_db()
        assert (run.status, run.failure) == (Run.Status.CANCELLED, "")

    def test_a_budget_below_one_request_sends_nothing(self, endpoint):
        run = work(budgeted(endpoint, 3, "0.0001"))
        assert run.status == Run.Status.PAUSED
        assert not endpoint.asked

    def test_an_endpoint_that_tells_no_usage_does_not_escape(self, endpoint):
        endpoint.answer = lambda _: Answer("0.5")
        run = work(budgeted(endpoint, 30, "0.1"))
        assert run.status == Run.Status.PAUSED
        assert Decimal("0.05") < run.spent <= run.budget

    def test_a_price_that_was_taken_away_pauses_the_run(self, endpoint):
        run = budgeted(endpoint, 3, "1")
        EndpointModel.objects.update(input_price=None, output_price=None)
        run = work(run)
        assert run.status == Run.Status.PAUSED
        assert run.failure.startswith("no price is known for judge-1")
        assert not endpoint.asked

    def test_while_others_hold_what_is_left_the_batch_waits(self, endpoint):
        run = budgeted(endpoint, 3, "1")
        reserve(run.pk, "another worker", [Decimal(1)])
        run = work(run)
        assert run.status == Run.Status.RUNNING
        waiting = Batch.objects.get(run=run)
        assert (waiting.state, waiting.attempts) == ("waiting", 0)
        assert waiting.not_before > timezone.now()
        release(run.pk, "another worker")
        Batch.objects.update(not_before=None)
        assert work(run).status == Run.Status.DONE

    def test_what_was_broken_off_stays_set_aside(self, endpoint, monkeypatch):
        """The reply has come, but the worker ends before it is stored."""
        run = budgeted(endpoint, 1, "1")

        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr("scoring.endpoints.stored_replies.settle", interrupted)
        with pytest.raises(KeyboardInterrupt):
            work_on_run(run.pk, slice_s=UNCUT_S)
        assert spending_of(run).under_way > COST

    def test_what_a_killed_worker_has_set_aside_counts_as_spent(self, endpoint):
        run = budgeted(endpoint, 3, "1")
        reserve(run.pk, "killed", [Decimal(1)])
        Reservation.objects.update(until=timezone.now() - timedelta(seconds=1))
        assert spending_of(run).lost == 1
        run = work(run)
        assert run.status == Run.Status.PAUSED
        assert "$1.00 is set aside for requests of workers that were stopped" in run.failure
        assert "a budget of at least $1.0" in run.failure


@pytest.mark.django_db
class TestSetting:
    @pytest.mark.parametrize("budget", ["0", "-1", "NaN", "Infinity", "0.00001", "10000001"])
    def test_what_is_no_budget_is_refused(self, endpoint, budget):
        with pytest.raises(InvalidRun, match=r"budget: found .*, expected US dollars"):
            budgeted(endpoint, 1, budget)
        assert not Run.objects.exists()

    def test_without_a_price_it_is_refused(self, endpoint):
        with pytest.raises(InvalidRun, match="budget: no price is known for judge-1"):
            start(asking_plan(asking_project(1), endpoint), budget=Decimal(1))

    def test_for_an_evaluator_that_asks_nobody_it_is_refused(self):
        project = make_project()
        make_summary(project)
        with pytest.raises(InvalidRun, match="asks no endpoint"):
            plan_run(project, "length", {}, budget=Decimal(1))

    def test_those_who_manage_runs_change_it(self, endpoint):
        run = budgeted(endpoint, 1, "1")
        set_budget(run, Decimal("2.5"), make_member(run.setup.project, "researcher"))
        run.refresh_from_db()
        assert run.budget == Decimal("2.5")
        with pytest.raises(InvalidRun, match="expected US dollars"):
            set_budget(run, Decimal(0), manager_of(run))
        EndpointModel.objects.update(input_price=None, output_price=None)
        with pytest.raises(InvalidRun, match="no price is known"):
            set_budget(run, Decimal(2), manager_of(run))

    def test_nobody_else_does(self, endpoint):
        run = budgeted(endpoint, 1, "1")
        with pytest.raises(NotAllowed):
            set_budget(run, None, make_rater(run.setup.project).user)

    def test_of_a_run_that_has_ended_it_cannot_be_changed(self, endpoint):
        run = work(budgeted(endpoint, 1, "1"))
        with pytest.raises(InvalidRun, match="This run is done"):
            set_budget(run, None, manager_of(run))

    def test_renewing_a_claim_keeps_its_money_under_way(self, endpoint):
        run = budgeted(endpoint, 1, "1")
        claim = claimed(run)
        reserve(run.pk, claim.token, [COST])
        Reservation.objects.update(until=timezone.now() - timedelta(seconds=1))
        assert spending_of(run).lost == COST
        renew_claim(claim)
        assert spending_of(run).under_way == COST


def settled(run: Run, holder: str, reserved: Decimal, cost: Decimal) -> None:
    there = locked(run.pk)
    assert there is not None
    settle(there, holder, reserved, cost, Usage(1, 1), replies=1)


cents = st.integers(1, 30).map(lambda cents: Decimal(cents) / 100)
steps = st.tuples(st.sampled_from("abc"), st.lists(cents, min_size=1, max_size=4), st.floats(0, 1))


@pytest.mark.django_db
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(budget=cents, moves=st.lists(steps, max_size=12))
def test_whatever_workers_do_the_budget_holds(endpoint, budget, moves):
    """Each move sets aside what fits, and settles what it has set aside before at a part of the most."""
    if not Run.objects.exists():
        budgeted(endpoint, 1, "1")
    run = Run.objects.get()
    Run.objects.update(budget=budget, spent=0)
    Reservation.objects.all().delete()
    held: dict[str, Decimal] = {}
    for holder, costs, share in moves:
        if holder in held:
            most = held.pop(holder)
            settled(run, holder, most, (most * Decimal(share)).quantize(Decimal("0.00000001")))
            release(run.pk, holder)
        run.refresh_from_db()
        free = budget - spending_of(run).bound
        try:
            number = reserve(run.pk, holder, costs)
        except OutOfBudget:
            assert costs[0] > free
            assert not held
        except BudgetInUse:
            assert costs[0] > free
            assert held
        else:
            held[holder] = sum(costs[:number], Decimal(0))
            assert number == len(costs) or sum(costs[: number + 1]) > free, "as many as fit"
        run.refresh_from_db()
        spending = spending_of(run)
        assert spending.bound <= budget
        assert spending.under_way == sum(held.values())


@pytest.mark.django_db(transaction=True)
def test_many_workers_at_once_never_overspend(endpoint, monkeypatch):
    """Real workers on one database; the endpoint sees that what it is asked was set aside before."""
    monkeypatch.setattr("scoring.evaluators.ice.Ice.batch_size", 4)
    run = budgeted(endpoint, 60, "0.2")
    overspent = []
    lock = threading.Lock()

    def answer(asked):
        with lock:
            overspent.append(len(endpoint.asked) * COST > Decimal("0.2"))
        return Answer("0.5", usage=(100, 0))

    endpoint.answer = answer

    def work_until_paused() -> None:
        while Run.objects.get(pk=run.pk).is_unfinished:
            work_on_run(run.pk, slice_s=UNCUT_S)
            Batch.objects.filter(run=run).update(not_before=None)

    in_threads(work_until_paused, 4)
    run.refresh_from_db()
    assert run.status == Run.Status.PAUSED
    assert not any(overspent)
    assert run.spent == len(endpoint.asked) * COST <= run.budget
    assert run.spent > run.budget / 2, "and all that fits is used"
    assert not run.reservations.exists()
