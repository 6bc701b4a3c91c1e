"""Budgets of runs hold for any number of workers, even killed ones."""

import threading
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.errors import NotAllowed
from scoring.contract.requests import Usage
from scoring.errors import InvalidRun
from scoring.models import Batch, EndpointModel, Reservation, Run, StoredReply
from scoring.replies.budgets import (
    BudgetInUse,
    OutOfBudget,
    locked,
    release,
    reserve,
    set_budget,
    settle,
    spending_of,
)
from scoring.runs import worker
from scoring.runs.claims import renew_claim
from scoring.runs.lifecycle import cancel_run, resume_run
from scoring.runs.planning import plan_run, start
from scoring.runs.worker import work_on_run
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.scoring.asking_projects import asking_plan, asking_project, price
from tests.scoring.claims import claimed
from tests.scoring.runs.test_concurrent_workers import in_threads
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

UNCUT_S = 600
COST = Decimal("0.01")
"""Cost of each reply."""


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    worker._loaded.clear()
    with ScriptedEndpoint(lambda _: Answer("0.5", usage=(100, 0))) as server:
        yield server
    worker._loaded.clear()


def budgeted(endpoint, summaries: int, budget: str) -> Run:
    """Start a run whose requests cost COST each, and up to two or three times as much."""
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
    def test_run_within_its_budget_finishes(self, endpoint):
        run = work(budgeted(endpoint, 10, "1"))
        assert (run.status, run.spent) == (Run.Status.DONE, 10 * COST)

    def test_run_pauses_before_overspending_and_says_what_it_needs(self, endpoint):
        run = work(budgeted(endpoint, 30, "0.1"))
        assert run.status == Run.Status.PAUSED
        assert run.finished_at is None
        asked = len(endpoint.asked)
        assert run.spent == asked * COST <= run.budget
        assert 5 <= asked < 10
        assert run.failure.startswith(
            f"$0.0{asked} of the budget of $0.10 is spent, and the next request may "
        )
        assert "a budget of at least $0." in run.failure
        assert StoredReply.objects.count() == asked
        assert not run.reservations.exists()

    def test_batch_of_a_paused_run_waits_without_counting_the_attempt(self, endpoint):
        run = work(budgeted(endpoint, 30, "0.1"))
        assert set(Batch.objects.filter(run=run).values_list("leased_until", "attempts")) == {(None, 0)}

    def test_paused_run_estimates_its_total_cost_once_it_can(self, endpoint):
        run = work(budgeted(endpoint, 60, "0.25"))
        assert run.batches.filter(finished_at__isnull=False).count() == 1
        assert "about $0." in run.failure

    def test_paused_run_continues_with_a_higher_budget(self, endpoint):
        run = work(budgeted(endpoint, 30, "0.1"))
        manager = manager_of(run)
        set_budget(run, Decimal("1"), manager)
        resume_run(run, manager)
        run = work(run)
        assert (run.status, run.failure) == (Run.Status.DONE, "")
        assert len(endpoint.asked) == 30
        assert run.spent == 30 * COST

    def test_paused_run_continues_without_a_budget(self, endpoint):
        run = work(budgeted(endpoint, 30, "0.1"))
        manager = manager_of(run)
        set_budget(run, None, manager)
        resume_run(run, manager)
        assert work(run).status == Run.Status.DONE

    def test_resumed_run_with_the_same_budget_pauses_without_requests(self, endpoint):
        run = work(budgeted(endpoint, 30, "0.1"))
        asked = len(endpoint.asked)
        resume_run(run, manager_of(run))
        assert work(run).status == Run.Status.PAUSED
        assert len(endpoint.asked) == asked

    def test_budget_below_the_amount_spent_is_refused(self, endpoint):
        run = work(budgeted(endpoint, 30, "0.1"))
        with pytest.raises(InvalidRun, match=r"found \$0\.05, expected more than"):
            set_budget(run, Decimal("0.05"), manager_of(run))
        run.refresh_from_db()
        assert run.budget == Decimal("0.1")

    def test_paused_run_reports_more_tokens_than_estimated(self, endpoint):
        endpoint.answer = lambda _: Answer(usage=(100_000, 4))
        run = work(budgeted(endpoint, 30, "0.1"))
        assert run.status == Run.Status.PAUSED
        assert run.spent > Decimal("0.1")
        assert "the endpoint reported more tokens than estimated" in run.failure

    def test_paused_run_can_be_cancelled(self, endpoint):
        run = work(budgeted(endpoint, 30, "0.1"))
        cancel_run(run, manager_of(run))
        run.refresh_from_db()
        assert (run.status, run.failure) == (Run.Status.CANCELLED, "")

    def test_budget_below_one_request_sends_nothing(self, endpoint):
        run = work(budgeted(endpoint, 3, "0.0001"))
        assert run.status == Run.Status.PAUSED
        assert not endpoint.asked

    def test_budget_holds_for_an_endpoint_that_reports_no_usage(self, endpoint):
        endpoint.answer = lambda _: Answer("0.5")
        run = work(budgeted(endpoint, 30, "0.1"))
        assert run.status == Run.Status.PAUSED
        assert Decimal("0.05") < run.spent <= run.budget

    def test_run_pauses_if_its_price_was_removed(self, endpoint):
        run = budgeted(endpoint, 3, "1")
        EndpointModel.objects.update(input_price=None, output_price=None)
        run = work(run)
        assert run.status == Run.Status.PAUSED
        assert run.failure.startswith("a budget needs a price for judge-1")
        assert not endpoint.asked

    def test_batch_waits_while_other_workers_hold_the_rest_of_the_budget(self, endpoint):
        run = budgeted(endpoint, 3, "1")
        reserve(run.pk, "another worker", [Decimal(1)])
        run = work(run)
        assert run.status == Run.Status.RUNNING
        waiting = Batch.objects.get(run=run)
        assert (waiting.leased_until, waiting.attempts) == (None, 0)
        assert waiting.not_before > timezone.now()
        release(run.pk, "another worker")
        Batch.objects.update(not_before=None)
        assert work(run).status == Run.Status.DONE

    def test_reservation_of_an_interrupted_request_stays(self, endpoint, monkeypatch):
        """The reply has arrived, but the worker ends before it is stored."""
        run = budgeted(endpoint, 1, "1")

        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr("scoring.replies.stored_replies.settle", interrupted)
        with pytest.raises(KeyboardInterrupt):
            work_on_run(run.pk, slice_s=UNCUT_S)
        assert spending_of(run).under_way > COST

    def test_reservation_of_a_killed_worker_counts_as_spent(self, endpoint):
        run = budgeted(endpoint, 3, "1")
        reserve(run.pk, "killed", [Decimal(1)])
        Reservation.objects.update(until=timezone.now() - timedelta(seconds=1))
        assert spending_of(run).lost == 1
        run = work(run)
        assert run.status == Run.Status.PAUSED
        assert "$1.00 is reserved by workers that stopped" in run.failure
        assert "a budget of at least $1.0" in run.failure


@pytest.mark.django_db
class TestLostRequests:
    def test_requests_of_a_killed_worker_count_as_far_as_they_can_have_been_under_way(self, endpoint):
        run = work(start(asking_plan(asking_project(1), endpoint)))
        reserve(run.pk, "killed early", [Decimal(0)] * 10, at_once=4)
        reserve(run.pk, "killed late", [Decimal(0)] * 10, at_once=4)
        settled(run, "killed late", Decimal(0), Decimal(0), replies=9)
        reserve(run.pk, "an API batch", [Decimal(0)])
        assert spending_of(run).lost_requests == 0
        Reservation.objects.update(until=timezone.now() - timedelta(seconds=1))
        assert spending_of(run).lost_requests == 4 + 1

    def test_a_finished_run_without_a_price_has_lost_none(self, endpoint):
        run = work(start(asking_plan(asking_project(3), endpoint)))
        assert not Reservation.objects.filter(run=run).exists()


@pytest.mark.django_db
class TestSetting:
    @pytest.mark.parametrize("budget", ["0", "-1", "NaN", "Infinity", "0.00001", "10000001"])
    def test_invalid_budget_is_refused(self, endpoint, budget):
        with pytest.raises(InvalidRun, match=r"budget: found .*, expected US dollars"):
            budgeted(endpoint, 1, budget)
        assert not Run.objects.exists()

    def test_budget_without_a_price_is_refused(self, endpoint):
        with pytest.raises(InvalidRun, match="a budget needs a price for judge-1"):
            start(asking_plan(asking_project(1), endpoint), budget=Decimal(1))

    def test_budget_for_an_evaluator_without_an_endpoint_is_refused(self):
        project = make_project()
        make_summary(project)
        with pytest.raises(InvalidRun, match="uses no endpoint"):
            plan_run(project, "length", {}, budget=Decimal(1))

    def test_researchers_and_managers_change_the_budget(self, endpoint):
        run = budgeted(endpoint, 1, "1")
        set_budget(run, Decimal("2.5"), make_member(run.setup.project, "researcher"))
        run.refresh_from_db()
        assert run.budget == Decimal("2.5")
        with pytest.raises(InvalidRun, match="expected US dollars"):
            set_budget(run, Decimal(0), manager_of(run))
        EndpointModel.objects.update(input_price=None, output_price=None)
        with pytest.raises(InvalidRun, match="needs a price"):
            set_budget(run, Decimal(2), manager_of(run))

    def test_raters_cannot_change_the_budget(self, endpoint):
        run = budgeted(endpoint, 1, "1")
        with pytest.raises(NotAllowed):
            set_budget(run, None, make_rater(run.setup.project).user)

    def test_budget_of_a_finished_run_cannot_be_changed(self, endpoint):
        run = work(budgeted(endpoint, 1, "1"))
        with pytest.raises(InvalidRun, match="This run is done"):
            set_budget(run, None, manager_of(run))

    def test_renewed_claim_keeps_its_reservation(self, endpoint):
        run = budgeted(endpoint, 1, "1")
        claim = claimed(run)
        reserve(run.pk, claim.token, [COST])
        Reservation.objects.update(until=timezone.now() - timedelta(seconds=1))
        assert spending_of(run).lost == COST
        renew_claim(claim)
        assert spending_of(run).under_way == COST


def settled(run: Run, holder: str, reserved: Decimal, cost: Decimal, replies: int = 1) -> None:
    there = locked(run.pk)
    assert there is not None
    settle(there, holder, reserved, cost, Usage(1, 1), replies)


cents = st.integers(1, 30).map(lambda cents: Decimal(cents) / 100)
steps = st.tuples(st.sampled_from("abc"), st.lists(cents, min_size=1, max_size=4), st.floats(0, 1))


@pytest.mark.django_db
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(budget=cents, moves=st.lists(steps, max_size=12))
def test_budget_holds_for_any_sequence_of_reservations(endpoint, budget, moves):
    """Each move settles the holder's last reservation at a share of its amount and reserves what fits."""
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
            assert number == len(costs) or sum(costs[: number + 1]) > free, "reserves as many as fit"
        run.refresh_from_db()
        spending = spending_of(run)
        assert spending.bound <= budget
        assert spending.under_way == sum(held.values())


@pytest.mark.django_db(transaction=True)
def test_concurrent_workers_never_overspend(endpoint, monkeypatch):
    """Real workers share one database; the endpoint checks that each request was reserved before."""
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
    assert run.spent > run.budget / 2, "the workers use what fits"
    assert not run.reservations.exists()
