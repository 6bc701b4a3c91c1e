"""How money, limits and abilities of language models are written on pages."""

from collections.abc import Iterable
from decimal import Decimal

from django import template

from scoring.asking.abilities import Abilities
from scoring.endpoints.prices import in_dollars
from scoring.endpoints.remembered import is_being_checked, is_overdue
from scoring.models import Endpoint, EndpointModel, HandIn

register = template.Library()


register.filter("dollars", in_dollars)


@register.filter
def price(amount: Decimal) -> str:
    """'$0.15', '$2.500001': every digit that is set, and cents at least."""
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
    return f"{allowed}at most {endpoint.most_in_flight} in flight"


@register.filter
def waiting(hand_ins: Iterable[HandIn]) -> bool:
    """Whether something of these is at the endpoint."""
    return any(each.is_open and each.input_file for each in hand_ins)


@register.filter
def check_state(model: EndpointModel) -> str:
    """unasked, checking, overdue (no worker answered), failed or known."""
    if is_being_checked(model):
        return "checking"
    if is_overdue(model):
        return "overdue"
    if model.check_failure:
        return "failed"
    return "unasked" if model.abilities is None else "known"


@register.filter
def abilities_in_words(model: EndpointModel) -> list[tuple[bool | None, str]]:
    """What a model that was asked can do (True), cannot (False) and has not told (None)."""
    can = Abilities.from_json(model.abilities)
    shown = "" if can.logprobs is None else f" of {can.logprobs} tokens" if can.logprobs else ""
    return [
        (can.temperature, "takes the temperature 0 (mode greedy)"),
        (None if can.logprobs is None else can.logprobs > 1, f"shows probabilities{shown} (mode expected)"),
        (can.json_schema, "holds replies to a JSON schema (structured)"),
        (can.n, "gives several replies to one request"),
        (can.usage, "tells how many tokens it used"),
        (can.batches, "takes files of requests (Batch API)"),
    ]
