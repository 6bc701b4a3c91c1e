"""Filters that write money, limits and capabilities of language models."""

from collections.abc import Iterable
from decimal import Decimal

from django import template

from scoring.endpoints.known_models import check_state
from scoring.endpoints.prices import in_dollars
from scoring.llm.capabilities import Abilities
from scoring.models import ApiBatch, Endpoint, EndpointModel

register = template.Library()


register.filter("dollars", in_dollars)
register.filter("check_state", check_state)


@register.filter
def price(amount: Decimal) -> str:
    """Format with all digits, and at least cents: '$0.15', '$2.500001'."""
    digits = f"{amount.normalize():f}".partition(".")[2]
    return f"${amount:,.{max(2, len(digits))}f}"


@register.filter
def limits_in_words(endpoint: Endpoint) -> str:
    per_minute = [
        f"{number:,} {what}"
        for number, what in (
            (endpoint.requests_per_minute, "requests"),
            (endpoint.tokens_per_minute, "tokens"),
        )
        if number
    ]
    allowed = f"{' and '.join(per_minute)} a minute, " if per_minute else ""
    return f"{allowed}at most {endpoint.most_in_flight} at a time"


@register.filter
def waiting(api_batches: Iterable[ApiBatch]) -> bool:
    """Return whether one of these is unfinished and at the endpoint."""
    return any(each.is_unfinished and each.input_file for each in api_batches)


@register.filter
def abilities_in_words(model: EndpointModel) -> list[tuple[bool | None, str]]:
    """Return the capabilities of a checked model: supported (True), not (False) or unknown (None)."""
    can = Abilities.from_json(model.abilities)
    shown = "" if can.logprobs is None else f" of {can.logprobs} tokens" if can.logprobs else ""
    return [
        (can.temperature, "temperature 0 (mode greedy)"),
        (None if can.logprobs is None else can.logprobs > 1, f"probabilities{shown} (mode expected)"),
        (can.json_schema, "replies by a JSON schema (structured)"),
        (can.n, "several replies to one request"),
        (can.usage, "token counts"),
        (can.batches, "batch API"),
    ]
