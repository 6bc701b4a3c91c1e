"""A run's requests to its language model, and their cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count

from annotation.models import Summary
from scoring.contract.requests import Address
from scoring.endpoints.known_models import address_of, known_model
from scoring.endpoints.prices import price_of
from scoring.evaluators import UnknownEvaluator
from scoring.models import EndpointModel, Run, Score
from scoring.replies.budgets import Spending, spending_of
from scoring.replies.repeated_texts import repeated_texts


@dataclass(frozen=True)
class RunCosts:
    """Requests and money of one run, without requests answered by earlier runs' replies."""

    run: Run
    address: Address
    model: EndpointModel | None
    """The project's row of the model; None if there is none yet."""
    problems: Mapping[str, int]
    """Reason -> number of incomplete replies, most frequent first, without those replaced since."""
    spending: Spending
    repeated: int
    """Summaries that got the reply to another one of the same article and text; 0 until the run is done."""

    @property
    def is_priced(self) -> bool:
        return price_of(self.model) is not None

    @property
    def left(self) -> Decimal | None:
        """US dollars of the budget that are neither spent nor reserved; None without a budget."""
        budget = self.run.budget
        return None if budget is None else max(Decimal(0), budget - self.spending.bound)


def costs_of(run: Run) -> RunCosts | None:
    """Return the run's costs; None if it uses no endpoint or this version lacks its evaluator."""
    try:
        address = address_of(run.setup)
    except (UnknownEvaluator, ValueError):
        return None
    if address is None:
        return None
    troubled = run.replies.exclude(problem="").values_list("problem").annotate(number=Count("pk"))
    return RunCosts(
        run=run,
        address=address,
        model=known_model(run.setup.project_id, address),
        problems=dict(troubled.order_by("-number", "problem")),
        spending=spending_of(run),
        repeated=_repeated(run) if run.status == Run.Status.DONE else 0,
    )


def _repeated(run: Run) -> int:
    replied = Score.objects.filter(run=run).exclude(explanation="").values("summary")
    texts = Summary.objects.filter(pk__in=replied).values_list("article", "text")
    return repeated_texts(texts.iterator())
