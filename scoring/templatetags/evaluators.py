"""How evaluators are described on pages."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

from scoring.params import value_as_text

register = template.Library()

WORDS = {
    "article": "the article",
    "references": "references",
    "labelled_pool": "human labels to learn from",
    "corpus": "all summaries of the run",
}


@register.filter
def paragraphs(docstring: str) -> list[str]:
    """The paragraphs of an evaluator's docstring, each on one line."""
    return [" ".join(paragraph.split()) for paragraph in docstring.split("\n\n")]


@register.filter
def breakable(signature: str) -> SafeString:
    """A signature that may break behind each of its parts."""
    return format_html_join(mark_safe("|<wbr>"), "{}", ((part,) for part in signature.split("|")))


@register.filter
def needs_in_words(evaluator: Mapping[str, Any]) -> str:
    """What an evaluator needs beside the summary, and with which parameters that changes."""
    changes = [
        f"with {each['parameter']} = {value_as_text(each['value'])}: {_listed(each['needs'])}"
        for each in evaluator["needs_if"]
    ]
    return "; ".join([_listed(evaluator["needs"]), *changes])


def _listed(needs: list[str]) -> str:
    return ", ".join(WORDS[need] for need in needs) or "the summary alone"
