"""What requests cost, in US dollars, by the prices that a project's managers have set."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal

from scoring.asking.addresses import same_address
from scoring.asking.request import Address, Request, Usage
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


def price_of(project_id: int, address: Address) -> Price | None:
    """The price of the model at this address through this API; None where no manager has set one."""
    model = EndpointModel.objects.filter(
        endpoint__project=project_id,
        endpoint__base_url=same_address(address.base_url),
        name=address.model,
        api=address.api,
    ).first()
    if model is None or model.input_price is None or model.output_price is None:
        return None
    return Price(model.input_price, model.output_price)


def most_used(request: Request, count: Counter = at_most_tokens) -> Usage:
    """More tokens than the request takes, with what a chat puts around its messages; exact if `count` is."""
    messages = [message for message in (request.system, request.prompt) if message]
    return Usage(sum(MESSAGE_TOKENS + count(message) for message in messages), request.max_tokens)
