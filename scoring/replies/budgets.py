"""A run's budget: before a request is sent, the most that it can cost is reserved.

Money spent and reserved never exceeds the budget, however many workers there are: each reserves under a lock
on the run's row. Money reserved by a killed worker stays reserved, since its cost is unknown. Requests are
reserved without a price, too, so that those that a killed worker may have paid in vain can be counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from itertools import accumulate

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from annotation.errors import NotFound
from annotation.models import Project
from annotation.models.leases import lease_end
from annotation.permissions import Permission, require
from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Address, Usage
from scoring.endpoints.known_models import address_of, known_model
from scoring.endpoints.prices import in_dollars, price_of
from scoring.errors import InvalidRun
from scoring.evaluators import UnknownEvaluator
from scoring.models import Reservation, Run

NO_PRICE = "a budget needs a price for {model}, which a manager can set on the endpoints page"
SMALLEST_BUDGET, LARGEST_BUDGET = Decimal("0.0001"), Decimal(10_000_000)


class OutOfBudget(Exception):
    """The budget does not allow one more request, and no request in progress can free money."""


class BudgetInUse(Exception):
    """The rest of the budget is reserved for requests in progress, which may free some of it."""


@dataclass(frozen=True)
class Spending:
    """A run's money, in US dollars, and requests that may have been paid in vain."""

    spent: Decimal
    under_way: Decimal
    """Money reserved by running workers."""
    lost: Decimal
    """Money reserved by workers that stopped; it counts as spent."""
    lost_requests: int
    """The most requests that were sent by workers that stopped before they stored the reply."""

    @property
    def bound(self) -> Decimal:
        return self.spent + self.under_way + self.lost


def spending_of(run: Run) -> Spending:
    now = timezone.now()
    under_way, lost, lost_requests = Decimal(0), Decimal(0), 0
    for held in Reservation.objects.filter(run=run):
        if held.until > now:
            under_way += held.amount
        else:
            lost += held.amount
            lost_requests += min(held.unanswered, held.at_once)
    return Spending(run.spent, under_way, lost, lost_requests)


def reserve(
    run_id: int, holder: str, costs: Sequence[Decimal], what: str = "the next request", at_once: int = 0
) -> int:
    """Reserve the `costs` of requests, from the first on, as far as the budget allows; return how many.

    `holder` is the token of a claim or names an API batch; `what` describes the first cost in messages. If
    the holder's worker is killed, at most `at_once` of its requests have been answered in vain.
    Raises OutOfBudget or BudgetInUse if none fits, EvaluatorError if the run was deleted.
    """
    with transaction.atomic():
        run = locked(run_id)
        if run is None:
            raise EvaluatorError("the run was deleted", permanent=True)
        number = len(costs)
        if run.budget is not None:
            spending = spending_of(run)
            free = run.budget - spending.bound
            number = sum(total <= free for total in accumulate(costs))
            if not number:
                raise _nothing_fits(run, spending, costs[0], what)
        _add(run, holder, sum(costs[:number], Decimal(0)), number, at_once)
    return number


def settle(run: Run, holder: str, reserved: Decimal, cost: Decimal, used: Usage, replies: int) -> None:
    """Count `replies` received: free `reserved` and spend `cost`. The caller must have `locked` the run."""
    if reserved or replies:
        _add(run, holder, -reserved, -replies)
    run.spent += cost
    run.prompt_tokens += used.prompt_tokens
    run.completion_tokens += used.completion_tokens
    run.replies_received += replies
    run.save(update_fields=["spent", "prompt_tokens", "completion_tokens", "replies_received"])


def release(run_id: int, holder: str) -> None:
    """Free the money reserved for requests that ended without an answer."""
    Reservation.objects.filter(run=run_id, holder=holder).delete()


def locked(run_id: int) -> Run | None:
    """Lock the run's row until the transaction ends and return the run; None if it was deleted."""
    return Run.objects.select_for_update(no_key=True).filter(pk=run_id).first()


def refuse_unpriced(run_id: int, model: str) -> None:
    """Raise OutOfBudget if the run has a budget, which needs a price."""
    if Run.objects.filter(pk=run_id, budget__isnull=False).exists():
        raise OutOfBudget(f"{NO_PRICE.format(model=model)}; or resume without a budget.")


def set_budget(run: Run, budget: Decimal | None, user: User) -> None:
    """Set what the run may cost in total; None for no limit. Requests in progress count and continue.

    Raises InvalidRun for an invalid or exceeded budget, without a price, and for a run that has ended; also
    as `require`.
    """
    project = run.setup.project
    require(user, project, Permission.MANAGE_RUNS)
    with transaction.atomic():
        changed = locked(run.pk)
        if changed is None:
            raise NotFound("This run has been deleted.")
        if changed.status in (Run.Status.DONE, Run.Status.CANCELLED):
            raise InvalidRun(
                f"This run is {changed.get_status_display()}, so its budget can no longer be changed."
            )
        if budget is not None:
            try:
                address = address_of(changed.setup)
            except (UnknownEvaluator, ValueError) as error:
                raise InvalidRun(str(error)) from error
            refuse_budget(project, address, budget)
            gone = spending_of(changed).bound
            if budget <= gone:
                raise InvalidRun(
                    f"budget: found {in_dollars(budget)}, expected more than {in_dollars(gone)}, which is "
                    "already spent or reserved"
                )
        changed.budget = budget
        changed.save(update_fields=["budget"])


def refuse_budget(project: Project, address: Address | None, budget: Decimal | None) -> None:
    """Raise InvalidRun for an invalid budget, or if the evaluator has no endpoint or price."""
    if budget is None:
        return
    if not budget.is_finite() or not 0 < budget <= LARGEST_BUDGET or round(budget, 4) != budget:
        raise InvalidRun(
            f"budget: found {budget}, expected US dollars, more than 0 and at most {LARGEST_BUDGET:,}, "
            "with at most four decimals"
        )
    if address is None:
        raise InvalidRun("budget: this evaluator uses no endpoint, so it costs nothing")
    if price_of(known_model(project.pk, address)) is None:
        raise InvalidRun(f"budget: {NO_PRICE.format(model=address.model)}")


def _add(run: Run, holder: str, amount: Decimal, requests: int, at_once: int = 0) -> None:
    until = lease_end(timezone.now())
    held, _ = Reservation.objects.get_or_create(
        run=run, holder=holder, defaults={"amount": Decimal(0), "until": until}
    )
    held.amount, held.until = max(Decimal(0), held.amount + amount), until
    held.unanswered, held.at_once = max(0, held.unanswered + requests), max(held.at_once, at_once)
    held.save(update_fields=["amount", "until", "unanswered", "at_once"])


def _nothing_fits(run: Run, spending: Spending, next_cost: Decimal, what: str) -> OutOfBudget | BudgetInUse:
    """Return the error for a run whose budget does not allow `next_cost`.

    The asking worker has no request in progress, so money under way belongs to others.
    """
    if spending.under_way:
        return BudgetInUse(f"the rest of the budget of run {run.pk} is reserved for other requests")
    lost = (
        f"{in_dollars(spending.lost)} is reserved by workers that stopped (possibly spent), "
        if spending.lost
        else ""
    )
    beyond = (
        " (the endpoint reported more tokens than estimated)"
        if run.budget is not None and spending.spent > run.budget
        else ""
    )
    needed = (spending.bound + next_cost).quantize(SMALLEST_BUDGET, rounding=ROUND_UP)
    whole = _expected_in_all(run)
    return OutOfBudget(
        f"{in_dollars(spending.spent)} of the budget of {in_dollars(run.budget or Decimal(0))} is spent"
        f"{beyond}, {lost}and {what} may cost {in_dollars(next_cost)}. To continue, the run needs "
        f"a budget of at least ${needed:,f}" + (f", about {in_dollars(whole)} in total." if whole else ".")
    )


def _expected_in_all(run: Run) -> Decimal | None:
    """Extrapolate the run's cost from its finished batches; None before the first."""
    done = run.batches.filter(finished_at__isnull=False).aggregate(sum=Sum("size", default=0))["sum"]
    return run.spent / done * run.total if done else None
