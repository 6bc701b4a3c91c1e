"""How money, tokens and limits of asking language models are written on pages."""

from decimal import Decimal

from django import template

from scoring.endpoints.prices import in_dollars
from scoring.models import Endpoint

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
