"""What asking again may cost: money is set aside before a lot is sent, at the most that it can cost.

What was paid, what is set aside and a new lot together are never more than the budget. One worker asks at a
time, so the row of the reasking is the account. Money of a lot whose worker was killed stays set aside,
because nobody knows what its requests have cost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from typing import Any

from django.db.models import F

from scoring.asking.request import Reply, Request, Usage
from scoring.asking_evaluator import AskingEvaluator
from scoring.endpoints.budgets import NO_PRICE, OutOfBudget
from scoring.endpoints.prices import Price, in_dollars, most_used, price_of
from scoring.endpoints.remembered import known_model
from scoring.models import EvaluatorSetup, Reasking

_NOTHING = Decimal(0)


@dataclass(frozen=True)
class Purse:
    """The money of one reasking, as the worker that holds it knows it."""

    reasking: Reasking
    evaluator: AskingEvaluator
    price: Price | None

    def too_dear(self, requests: Mapping[int, Sequence[Request]]) -> list[int]:
        """Summaries, of those with their requests, for which the money does not last if all before are asked.

        Raises OutOfBudget where it does not last for the first.
        """
        budget = self.reasking.budget
        if budget is None:
            return []
        free = budget - (self.reasking.cost or _NOTHING) - self.reasking.set_aside
        costs = [self._at_most(each) for each in requests.values()]
        number = sum(total <= free for total in accumulate(costs))
        if costs and not number:
            raise OutOfBudget(self._used_up(free, costs[0]))
        return list(requests)[number:]

    def opened_for(self, sent: Sequence[Request]) -> dict[str, Any]:
        """Columns of the reasking, with the most that these requests can cost set aside."""
        self.reasking.set_aside += self._at_most(sent)
        return {"set_aside": self.reasking.set_aside}

    def closed_after(self, sent: Sequence[Request], replies: Mapping[int, Reply]) -> dict[str, Any]:
        """Columns of the reasking, with what these replies have used, by their places in `sent`, counted in
        place of what was set aside for all."""
        used = [reply.usage or self._most_used(sent[place]) for place, reply in replies.items()]
        self.reasking.set_aside -= self._at_most(sent)
        if self.price:
            paid = sum(map(self.price.cost, used), _NOTHING)
            self.reasking.cost = (self.reasking.cost or _NOTHING) + paid
        return {
            "set_aside": self.reasking.set_aside,
            "cost": self.reasking.cost,
            "prompt_tokens": F("prompt_tokens") + sum(each.prompt_tokens for each in used),
            "completion_tokens": F("completion_tokens") + sum(each.completion_tokens for each in used),
        }

    def _at_most(self, requests: Sequence[Request]) -> Decimal:
        price = self.price
        return sum((price.cost(self._most_used(each)) for each in requests), _NOTHING) if price else _NOTHING

    def _most_used(self, request: Request) -> Usage:
        return most_used(request, self.evaluator.tokens_at_most)

    def _used_up(self, free: Decimal, next_cost: Decimal) -> str:
        budget = self.reasking.budget or _NOTHING
        answered = self.reasking.replies.filter(repeat__gt=0).values("summary").distinct().count()
        return (
            f"of the budget of {in_dollars(budget)} {in_dollars(free)} are left, and the next summary may "
            f"cost {in_dollars(next_cost)}; {answered} of {len(self.reasking.summary_ids)} were answered. "
            "Start it again with a larger budget."
        )


def purse_of(reasking: Reasking, evaluator: AskingEvaluator) -> Purse:
    """Raises OutOfBudget where there is a budget, but no price any more to keep it by."""
    price = price_at(reasking.setup, evaluator)
    if reasking.budget is not None and price is None:
        model = evaluator.address.model if evaluator.address else evaluator.name
        raise OutOfBudget(NO_PRICE.format(model=model))
    return Purse(reasking, evaluator, price)


def price_at(setup: EvaluatorSetup, evaluator: AskingEvaluator) -> Price | None:
    """None where nobody is paid, or no manager has set one."""
    address = evaluator.address
    return price_of(known_model(setup.project_id, address)) if address else None
