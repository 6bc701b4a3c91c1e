"""How numbers and durations are written on pages."""

from django import template

register = template.Library()


@register.filter
def count(number: int) -> str:
    """'4,812'."""
    return f"{number:,}"


@register.filter
def duration(seconds: float | None) -> str:
    """'48 s', '2 min 5 s', '1 h 2 min'; a dash for none."""
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
    """'1 rating' or '4,812 ratings' for 'rating,ratings'."""
    one, many = forms.split(",")
    return f"{number:,} {one if number == 1 else many}"
