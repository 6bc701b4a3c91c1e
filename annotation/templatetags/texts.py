"""Filters that write texts, languages and answers."""

from collections.abc import Iterable
from datetime import timedelta

from django import template
from django.utils.translation import get_language_info, gettext, ngettext, pgettext_lazy

register = template.Library()

RIGHT_TO_LEFT = frozenset({"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})
UNSPACED = frozenset({"ja", "km", "lo", "my", "th", "zh"})  # words cannot be counted by spaces
WORDS_PER_MINUTE = 220  # silent reading, adults; Brysbaert 2019: 238 in English, fewer in longer words
MARKS = {"yes": "✓", "no": "✕", "unsure": "?"}
ANSWERS = {
    "yes": pgettext_lazy("answer", "Yes"),
    "no": pgettext_lazy("answer", "No"),
    "unsure": pgettext_lazy("answer", "Unsure"),
}


def _primary(language: str) -> str:
    return language.replace("_", "-").split("-")[0].lower()


@register.filter
def direction(language: str) -> str:
    """Return the writing direction of a language code, for `dir`."""
    return "rtl" if _primary(language) in RIGHT_TO_LEFT else "ltr"


@register.filter("language")
def language_name(language: str) -> str:
    """Return 'German' for 'de', in the reader's language, or the code if it is unknown."""
    try:
        return str(get_language_info(language.lower())["name_translated"])
    except KeyError:
        return language


@register.filter
def languages(codes: Iterable[str]) -> str:
    """Return 'English and German' for ['en', 'de']."""
    *first, last = [language_name(code) for code in codes]
    if not first:
        return last
    return gettext("%(first)s and %(last)s") % {"first": gettext(", ").join(first), "last": last}


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
    length = ngettext(
        "%(words)s word · about %(minutes)s min", "%(words)s words · about %(minutes)s min", words
    )
    return length % {"words": words, "minutes": max(1, round(words / WORDS_PER_MINUTE))}


@register.filter
def minutes(duration: timedelta) -> str:
    count = round(duration.total_seconds() / 60)
    return ngettext("%(n)s minute", "%(n)s minutes", count) % {"n": count}


@register.filter
def answer_mark(value: str) -> str:
    """Return a sign before the word, so that colour is never the only difference; empty for numbers."""
    return MARKS.get(value, "")


def answer_label(value: str) -> str:
    """Return 'Yes' for 'yes': the English label, which projects' own texts use."""
    return value.replace("_", " ").capitalize()


@register.filter("answer_label")
def shown_label(value: str) -> str:
    """Return the label as `answer_label`, those of Touchstone's own answers in the reader's language."""
    return str(ANSWERS.get(value) or answer_label(value))


@register.filter
def percent(share: float) -> str:
    """Return '80%' for 0.8, rounded down so that a missed threshold never looks reached."""
    return f"{int(share * 100 + 1e-9)}%"
