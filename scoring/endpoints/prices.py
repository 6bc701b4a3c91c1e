"""What requests cost, in US dollars, by the prices that a project's managers have set."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal

from scoring.asking.request import Request, Usage
from scoring.judge.prompt_length import MESSAGE_TOKENS, at_most_tokens
from scoring.models import EndpointModel

SMALLEST_COST = Decimal("0.00000001")
"""Costs are kept to this, rounded up, so that no sum of costs is more than the sum set aside for them."""

Counter = Callable[[str], int]
"""Tokens of a text, or more."""


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens."""

    input: Decimal
    output: Decimal

    def cost(self, usage: Usage) -> Decimal:
        exact = usage.prompt_tokens * self.input + usage.completion_tokens * self.output
        return (exact / 1_000_000).quantize(SMALLEST_COST, rounding=ROUND_UP)


def price_of(model: EndpointModel | None) -> Price | None:
    """None where no manager has set one."""
    if model is None or model.input_price is None or model.output_price is None:
        return None
    return Price(model.input_price, model.output_price)


def most_used(request: Request, count: Counter = at_most_tokens) -> Usage:
    """More tokens than the request takes, with what a chat puts around its messages; exact if `count` is."""
    messages = [message for message in (request.system, request.prompt) if message]
    return Usage(sum(MESSAGE_TOKENS + count(message) for message in messages), request.max_tokens)


def in_dollars(amount: Decimal) -> str:
    """With two decimals, or as many as show two digits of a small amount: $12.50, $0.03, $0.0021."""
    if amount >= 1 or not amount:
        return f"${amount:,.2f}"
    decimals = max(2, 1 - amount.adjusted())
    cents, _, smaller = f"{amount:.{decimals}f}".partition(".")
    return f"${cents}.{smaller.rstrip('0'):0<2}"
