"""A run's budget: money is set aside before a request is sent, at the most that it can cost.

Spent, set aside and new requests together are never more than the budget, whatever number of workers there
is: each looks and sets aside under a lock on the run's row. Money of a worker that was killed stays set
aside, because nobody knows what its requests have cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_UP, Decimal
from itertools import accumulate

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from annotation.errors import NotFound
from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.asking.request import Address, Usage
from scoring.contract import EvaluatorError
from scoring.endpoints.prices import in_dollars, price_of
from scoring.endpoints.remembered import address_of, known_model
from scoring.errors import InvalidRun
from scoring.evaluators import UnknownEvaluator
from scoring.models import Batch, Reservation, Run

NO_PRICE = (
    "no price is known for {model}, so a budget cannot be kept: a manager sets it on the page of endpoints"
)
SMALLEST_BUDGET, LARGEST_BUDGET = Decimal("0.0001"), Decimal(10_000_000)


class OutOfBudget(Exception):
    """Not even one more request fits, and none that is under way can free anything."""


class BudgetInUse(Exception):
    """What is left is set aside for requests that are under way; some of it may come back."""


@dataclass(frozen=True)
class Spending:
    """A run's money, in US dollars."""

    spent: Decimal
    under_way: Decimal
    """Set aside for requests of workers that are there."""
    lost: Decimal
    """Set aside for requests of workers that are not there any more; counts as spent."""

    @property
    def bound(self) -> Decimal:
        return self.spent + self.under_way + self.lost


def spending_of(run: Run) -> Spending:
    now = timezone.now()
    under_way = lost = Decimal(0)
    for amount, until in Reservation.objects.filter(run=run).values_list("amount", "until"):
        under_way, lost = (under_way + amount, lost) if until > now else (under_way, lost + amount)
    return Spending(run.spent, under_way, lost)


def reserve(run_id: int, holder: str, costs: Sequence[Decimal], what: str = "the next request") -> int:
    """Set aside `costs`, each of one request, as far as the budget goes: how many, from the first on.

    `holder` tells whom they are for: the token of a claim, or a hand-in; `what`, what the first is of. Raises
    OutOfBudget or BudgetInUse where not even the first fits, EvaluatorError where the run was deleted.
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
        _add(run, holder, sum(costs[:number], Decimal(0)))
    return number


def settle(run: Run, holder: str, reserved: Decimal, cost: Decimal, used: Usage, replies: int) -> None:
    """Count `replies` that have come: `reserved` is free again, `cost` is spent.

    `run` must be `locked` by the caller's transaction.
    """
    if reserved:
        _add(run, holder, -reserved)
    run.spent += cost
    run.prompt_tokens += used.prompt_tokens
    run.completion_tokens += used.completion_tokens
    run.replies_received += replies
    run.save(update_fields=["spent", "prompt_tokens", "completion_tokens", "replies_received"])


def release(run_id: int, holder: str) -> None:
    """Give back what is set aside for requests that were not answered and are under way no more."""
    Reservation.objects.filter(run=run_id, holder=holder).delete()


def locked(run_id: int) -> Run | None:
    """The run, its row locked until the end of the transaction; None if it was deleted."""
    return Run.objects.select_for_update(no_key=True).filter(pk=run_id).first()


def refuse_unpriced(run_id: int, model: str) -> None:
    """Raises OutOfBudget for a run with a budget: no price is known any more to keep it by."""
    if Run.objects.filter(pk=run_id, budget__isnull=False).exists():
        raise OutOfBudget(f"{NO_PRICE.format(model=model)}; or go on without a budget.")


def set_budget(run: Run, budget: Decimal | None, user: User) -> None:
    """What the run may cost in all, from now on; None: no limit. What is under way is counted, not stopped.

    Raises InvalidRun for what is no budget or gone already, where no price is known to keep it by, and for a
    run that has ended; what `require` raises.
    """
    project = run.setup.project
    require(user, project, Permission.MANAGE_RUNS)
    with transaction.atomic():
        changed = locked(run.pk)
        if changed is None:
            raise NotFound("This run has been deleted.")
        if changed.status in (Run.Status.DONE, Run.Status.CANCELLED):
            raise InvalidRun(
                f"This run is {changed.get_status_display()}: a budget changes nothing any more."
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
                    f"budget: found {in_dollars(budget)}, expected more than {in_dollars(gone)}, which this "
                    "run has spent or set aside already"
                )
        changed.budget = budget
        changed.save(update_fields=["budget"])


def refuse_budget(project: Project, address: Address | None, budget: Decimal) -> None:
    """Raises InvalidRun for what is no budget, and where it cannot be kept."""
    if not budget.is_finite() or not 0 < budget <= LARGEST_BUDGET or round(budget, 4) != budget:
        raise InvalidRun(
            f"budget: found {budget}, expected US dollars, more than 0 and at most {LARGEST_BUDGET:,}, "
            "with four decimals at most"
        )
    if address is None:
        raise InvalidRun("budget: this evaluator asks no endpoint, so there is nothing to pay")
    if price_of(known_model(project.pk, address)) is None:
        raise InvalidRun(f"budget: {NO_PRICE.format(model=address.model)}")


def _add(run: Run, holder: str, amount: Decimal) -> None:
    held, _ = Reservation.objects.get_or_create(
        run=run, holder=holder, defaults={"amount": Decimal(0), "until": _lease_end()}
    )
    held.amount, held.until = max(Decimal(0), held.amount + amount), _lease_end()
    held.save(update_fields=["amount", "until"])


def _nothing_fits(run: Run, spending: Spending, next_cost: Decimal, what: str) -> OutOfBudget | BudgetInUse:
    """Who asks for more has nothing under way, so what is under way is others'."""
    if spending.under_way:
        return BudgetInUse(f"what is left of the budget of run {run.pk} is set aside for other requests")
    lost = (
        f"{in_dollars(spending.lost)} is set aside for requests of workers that were stopped, which may have "
        "cost that, "
        if spending.lost
        else ""
    )
    beyond = (
        " (the endpoint reported more tokens than its requests were reckoned at)"
        if run.budget is not None and spending.spent > run.budget
        else ""
    )
    needed = (spending.bound + next_cost).quantize(SMALLEST_BUDGET, rounding=ROUND_UP)
    whole = _expected_in_all(run)
    return OutOfBudget(
        f"{in_dollars(spending.spent)} of the budget of {in_dollars(run.budget or Decimal(0))} is spent"
        f"{beyond}, {lost}and {what} may cost {in_dollars(next_cost)}: to go on, a budget of at least "
        f"${needed:,f} is needed" + (f", for the whole run about {in_dollars(whole)}." if whole else ".")
    )


def _expected_in_all(run: Run) -> Decimal | None:
    """At what its summaries have cost so far; None as long as no batch is done."""
    done = run.batches.filter(state=Batch.State.DONE).aggregate(sum=Sum("size", default=0))["sum"]
    return run.spent / done * run.total if done else None


def _lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.CLAIM_LEASE_S)
