"""What a run has asked of its language model so far, and what that has cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count

from scoring.asking.request import Address
from scoring.endpoints.budgets import Spending, spending_of
from scoring.endpoints.prices import price_of
from scoring.endpoints.remembered import address_of, known_model
from scoring.evaluators import UnknownEvaluator
from scoring.models import EndpointModel, Run


@dataclass(frozen=True)
class RunAccount:
    """Requests, tokens and money of one run; what replies of earlier runs answered is none of them."""

    run: Run
    address: Address
    model: EndpointModel | None
    """What the project knows of the model; None as long as nobody asked it or named it."""
    problems: Mapping[str, int]
    """Why replies are no whole answers -> how many, the most frequent first; without those asked for anew."""
    spending: Spending

    @property
    def is_priced(self) -> bool:
        return price_of(self.model) is not None

    @property
    def left(self) -> Decimal | None:
        """US dollars of the budget that are neither spent nor set aside; None without a budget."""
        budget = self.run.budget
        return None if budget is None else max(Decimal(0), budget - self.spending.bound)


def account_of(run: Run) -> RunAccount | None:
    """None for a run that asks no endpoint, or by an evaluator that this version does not have."""
    try:
        address = address_of(run.setup)
    except (UnknownEvaluator, ValueError):
        return None
    if address is None:
        return None
    troubled = run.replies.exclude(problem="").values_list("problem").annotate(number=Count("pk"))
    return RunAccount(
        run=run,
        address=address,
        model=known_model(run.setup.project_id, address),
        problems=dict(troubled.order_by("-number", "problem")),
        spending=spending_of(run),
    )
