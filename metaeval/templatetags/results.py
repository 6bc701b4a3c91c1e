"""How numbers and times are written on the pages with results."""

import math
from collections.abc import Mapping
from datetime import datetime

from django import template
from django.utils import timezone

register = template.Library()

MINUS = "\N{MINUS SIGN}"
AGES = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))  # seconds; static/js/live.js keeps the same


@register.filter
def figure(value: float) -> str:
    """'.477' for 0.4769, '−.022', '1.000': three decimals and no nought before the point."""
    if math.isnan(value):
        return "undefined"
    text = f"{abs(value):.3f}"
    sign = MINUS if value < 0 and float(text) else ""
    return sign + text.removeprefix("0")


@register.filter
def p_value(value: float) -> str:
    """'.012'; '< .001' below that."""
    return "< .001" if value < 0.001 else figure(value)


@register.filter
def short_figure(value: float) -> str:
    """'.48' for 0.4769, '−.02', '1.00': two decimals and no nought before the point."""
    text = f"{abs(value):.2f}"
    sign = MINUS if value < 0 and float(text) else ""
    return sign + text.removeprefix("0")


@register.filter
def percent(share: float) -> str:
    """'47.7%' for 0.4769."""
    return "undefined" if math.isnan(share) else f"{share:.1%}"


@register.filter
def score(value: float) -> str:
    """A score in its own unit, four digits of it: '3', '0.7569', '1234'."""
    return "undefined" if math.isnan(value) else f"{value:.4g}".replace("-", MINUS)


@register.filter
def thousands(number: int) -> str:
    """'1,536'."""
    return f"{number:,}"


@register.filter
def total(counts: Mapping[str, int]) -> int:
    """How many there are, whatever the reason."""
    return sum(counts.values())


@register.filter
def whole(number: float) -> str:
    """'1,536' for 1536.0; '∞'."""
    return "∞" if math.isinf(number) else f"{number:,.0f}"


@register.filter
def seconds_since(moment: datetime) -> int:
    return max(0, int((timezone.now() - moment).total_seconds()))


@register.filter
def age(moment: datetime) -> str:
    """'2 s', '5 min', '3 h', '12 d': how long ago, in the largest unit that fits."""
    seconds = seconds_since(moment)
    return next((f"{seconds // length} {unit}" for length, unit in AGES if seconds >= length), "0 s")
