"""How numbers and times are written on the pages with results."""

import math
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
def thousands(number: int) -> str:
    """'1,536'."""
    return f"{number:,}"


@register.filter
def seconds_since(moment: datetime) -> int:
    return max(0, int((timezone.now() - moment).total_seconds()))


@register.filter
def age(moment: datetime) -> str:
    """'2 s', '5 min', '3 h', '12 d': how long ago, in the largest unit that fits."""
    seconds = seconds_since(moment)
    return next((f"{seconds // length} {unit}" for length, unit in AGES if seconds >= length), "0 s")
