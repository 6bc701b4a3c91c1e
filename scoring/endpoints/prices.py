"""The cost of requests in US dollars, at the prices set by a project's managers."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal

from scoring.contract.requests import Request, Usage
from scoring.models import EndpointModel
from scoring.prompts.prompt_length import MESSAGE_TOKENS, at_most_tokens

SMALLEST_COST = Decimal("0.00000001")
"""Costs are rounded up to this, so that no sum of costs exceeds the sum reserved for them."""

Counter = Callable[[str], int]
"""Returns the number of tokens of a text, or an upper bound."""


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input: Decimal
    output: Decimal

    def cost(self, usage: Usage) -> Decimal:
        exact = usage.prompt_tokens * self.input + usage.completion_tokens * self.output
        return (exact / 1_000_000).quantize(SMALLEST_COST, rounding=ROUND_UP)


def price_of(model: EndpointModel | None) -> Price | None:
    """Return the model's price; None if none is set."""
    if model is None or model.input_price is None or model.output_price is None:
        return None
    return Price(model.input_price, model.output_price)


def most_used(request: Request, count: Counter = at_most_tokens) -> Usage:
    """Return an upper bound on the request's tokens, chat markup included; exact if `count` is."""
    messages = [message for message in (request.system, request.prompt) if message]
    return Usage(sum(MESSAGE_TOKENS + count(message) for message in messages), request.max_tokens)


def in_dollars(amount: Decimal) -> str:
    """Format with two decimals, or two significant digits if small: $12.50, $0.03, $0.0021."""
    if amount >= 1 or not amount:
        return f"${amount:,.2f}"
    decimals = max(2, 1 - amount.adjusted())
    cents, _, smaller = f"{amount:.{decimals}f}".partition(".")
    return f"${cents}.{smaller.rstrip('0'):0<2}"
