"""Filters that write numbers, durations and times."""

from datetime import datetime
from math import ceil

from django import template
from django.utils.dateformat import format as format_date
from django.utils.formats import get_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

register = template.Library()


@register.filter
def count(number: int) -> str:
    """Return a number with the separators of the reader's language: '4,812'."""
    return f"{number:,}".replace(",", get_format("THOUSAND_SEPARATOR"))


@register.filter
def duration(seconds: float | None) -> str:
    """Return '48 s', '2 min 5 s' or '1 h 2 min'; a dash for None."""
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole < 60:
        return gettext("%(seconds)s s") % {"seconds": whole}
    minutes, rest = divmod(whole, 60)
    if minutes < 60 and rest:
        return gettext("%(minutes)s min %(seconds)s s") % {"minutes": minutes, "seconds": rest}
    if minutes < 60:
        return gettext("%(minutes)s min") % {"minutes": minutes}
    hours, minutes = divmod(minutes, 60)
    if minutes:
        return gettext("%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": minutes}
    return gettext("%(hours)s h") % {"hours": hours}


@register.filter
def noun(number: int, forms: str) -> str:
    """Return '1 rating' or '4,812 ratings' for the English forms 'rating,ratings'."""
    one, many = forms.split(",")
    return f"{number:,} {one if number == 1 else many}"


def wait(seconds: int) -> str:
    """Return '45 seconds' or '15 minutes', rounded up."""
    if seconds < 60:
        return ngettext("%(n)s second", "%(n)s seconds", seconds) % {"n": seconds}
    minutes = ceil(seconds / 60)
    return ngettext("%(n)s minute", "%(n)s minutes", minutes) % {"n": count(minutes)}


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
