"""Filters that write texts, languages and answers."""

from collections.abc import Iterable
from datetime import timedelta

from django import template
from django.utils.translation import get_language_info

register = template.Library()

RIGHT_TO_LEFT = frozenset({"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})
UNSPACED = frozenset({"ja", "km", "lo", "my", "th", "zh"})  # words cannot be counted by spaces
WORDS_PER_MINUTE = 220  # silent reading, adults; Brysbaert 2019: 238 in English, fewer in longer words
MARKS = {"yes": "✓", "no": "✕", "unsure": "?"}


def _primary(language: str) -> str:
    return language.replace("_", "-").split("-")[0].lower()


@register.filter
def direction(language: str) -> str:
    """Return the writing direction of a language code, for `dir`."""
    return "rtl" if _primary(language) in RIGHT_TO_LEFT else "ltr"


@register.filter
def language_name(language: str) -> str:
    """Return 'German' for 'de', or the code if it is unknown."""
    try:
        return str(get_language_info(language.lower())["name"])
    except KeyError:
        return language


@register.filter
def languages(codes: Iterable[str]) -> str:
    """Return 'English and German' for ['en', 'de']."""
    *first, last = [language_name(code) for code in codes]
    return f"{', '.join(first)} and {last}" if first else last


@register.filter
def paragraphs(text: str) -> list[str]:
    """Return the lines of a text that are not blank."""
    return [line.strip() for line in text.splitlines() if line.strip()]


@register.filter
def reading_length(text: str, language: str) -> str:
    """Return '412 words · about 2 min'; empty for scripts without spaces between words."""
    if _primary(language) in UNSPACED:
        return ""
    words = len(text.split())
    unit = "word" if words == 1 else "words"
    return f"{words} {unit} · about {max(1, round(words / WORDS_PER_MINUTE))} min"


@register.filter
def minutes(duration: timedelta) -> str:
    count = round(duration.total_seconds() / 60)
    return "1 minute" if count == 1 else f"{count} minutes"


@register.filter
def answer_mark(value: str) -> str:
    """Return a sign before the word, so that colour is never the only difference; empty for numbers."""
    return MARKS.get(value, "")


@register.filter
def answer_label(value: str) -> str:
    """Return 'Yes' for 'yes'."""
    return value.replace("_", " ").capitalize()


@register.filter
def percent(share: float) -> str:
    """Return '80%' for 0.8, rounded down so that a missed threshold never looks reached."""
    return f"{int(share * 100 + 1e-9)}%"
