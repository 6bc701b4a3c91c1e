"""Numbers and times as the results pages write them."""

import math
from collections.abc import Mapping
from datetime import datetime

from django import template
from django.template.context import RequestContext
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from metaeval.stats.result import Estimate, Interval

register = template.Library()

NO_INTERVAL = "no interval"
MINUS = "\N{MINUS SIGN}"
AGES = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))  # seconds; static/js/live.js keeps the same


@register.filter
def figure(value: float) -> str:
    """Write three decimals without a leading zero: '.477', '−.022', '1.000'."""
    if math.isnan(value):
        return "undefined"
    text = f"{abs(value):.3f}"
    sign = MINUS if value < 0 and float(text) else ""
    return sign + text.removeprefix("0")


@register.filter
def p_value(value: float) -> str:
    """Write a p-value: '.012', or '< .001'."""
    return "< .001" if value < 0.001 else figure(value)


@register.filter
def short_figure(value: float) -> str:
    """Write two decimals without a leading zero: '.48', '−.02', '1.00'."""
    text = f"{abs(value):.2f}"
    sign = MINUS if value < 0 and float(text) else ""
    return sign + text.removeprefix("0")


@register.filter
def value_or_dash(estimate: Estimate) -> str:
    """Write the value, or a dash with the reason as its title."""
    return _with_reason("–", f"undefined: {estimate.reason}") if estimate.reason else figure(estimate.value)


@register.filter
def range_or_dash(interval: Interval | None) -> str:
    """Write '.41 to .52', or a dash with the reason as its title."""
    if interval is None:
        return "–"
    return _with_reason("–", interval.reason) if interval.reason else short_range(interval)


def short_range(interval: Interval) -> str:
    """Write '.41 to .52', or 'no interval'."""
    if interval.reason:
        return NO_INTERVAL
    return f"{short_figure(interval.low)} to {short_figure(interval.high)}"


@register.filter
def long_range(interval: Interval) -> str:
    """Write '.412 to .523', or 'no interval' with the reason as its title."""
    if interval.reason:
        return _with_reason(NO_INTERVAL, interval.reason)
    return f"{figure(interval.low)} to {figure(interval.high)}"


def _with_reason(text: str, reason: str) -> str:
    return format_html('<span title="{}">{}</span>', reason, text)


@register.filter
def percent(share: float) -> str:
    """Write a share as a percentage: '47.7%'."""
    return "undefined" if math.isnan(share) else f"{share:.1%}"


@register.filter
def score(value: float) -> str:
    """Write four significant digits: '3', '0.7569', '1234'."""
    return "undefined" if math.isnan(value) else f"{value:.4g}".replace("-", MINUS)


@register.filter
def total(counts: Mapping[str, int]) -> int:
    """Return the sum over all reasons."""
    return sum(counts.values())


@register.filter
def whole(number: float) -> str:
    """Write a whole number: '1,536', or '∞'."""
    return "∞" if math.isinf(number) else f"{number:,.0f}"


@register.filter
def seconds_since(moment: datetime) -> int:
    return max(0, int((timezone.now() - moment).total_seconds()))


@register.filter
def age(moment: datetime) -> str:
    """Write how long ago, in the largest unit that fits: '2 s', '5 min', '3 h', '12 d'."""
    seconds = seconds_since(moment)
    return next((f"{seconds // length} {unit}" for length, unit in AGES if seconds >= length), "0 s")


@register.simple_tag(takes_context=True)
def file_url(context: RequestContext, url_name: str, *args: str) -> str:
    """Return the address of one of the page's files, with the page's choices."""
    page = context["page"]
    ids = getattr(page, "address_ids", ())
    named = filter(None, args)  # templates also pass a name that they were not given
    return reverse(url_name, args=[context["project"].slug, *ids, *named]) + page.choices.address()
