"""Filters that write numbers, durations and times."""

from datetime import datetime
from math import ceil

from django import template
from django.utils.dateformat import format as format_date
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def count(number: int) -> str:
    """Return a number with separators: '4,812'."""
    return f"{number:,}"


@register.filter
def duration(seconds: float | None) -> str:
    """Return '48 s', '2 min 5 s' or '1 h 2 min'; a dash for None."""
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


@register.filter
def noun(number: int, forms: str) -> str:
    """Return '1 rating' or '4,812 ratings' for the forms 'rating,ratings'."""
    one, many = forms.split(",")
    return f"{number:,} {one if number == 1 else many}"


def wait(seconds: int) -> str:
    """Return '45 seconds' or '15 minutes', rounded up."""
    return noun(seconds, "second,seconds") if seconds < 60 else noun(ceil(seconds / 60), "minute,minutes")


@register.filter(expects_localtime=True)
def moment(time: datetime | None, written: str = "j M Y, H:i") -> SafeString | str:
    """Return a time element, '5 Nov 2026, 14:02' by default; empty for None."""
    if time is None:
        return ""
    return format_html('<time datetime="{}">{}</time>', time.isoformat(), format_date(time, written))


@register.filter(expects_localtime=True)
def day(time: datetime | None) -> SafeString | str:
    """Return a time element that shows only the day: '5 Nov 2026'."""
    return moment(time, "j M Y")
