"""How evaluators are described on pages."""

import re
from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import escape, format_html_join
from django.utils.safestring import SafeString, mark_safe

from scoring.evaluators import EVALUATORS, load_evaluator
from scoring.judge.dimensions import Dimension
from scoring.params import value_as_text

register = template.Library()

WORDS = {
    "article": "the article",
    "references": "references",
    "labelled_pool": "human labels to learn from",
    "corpus": "all summaries of the run",
    "scores": "scores of other evaluators",
}


@register.filter
def evaluator_title(name: str) -> str:
    """What people call an evaluator; its name where this version has it no more."""
    return load_evaluator(name).title if name in EVALUATORS else name


@register.filter
def dimension_title(name: str) -> str:
    """A dimension's name as words."""
    return Dimension(name, "summary").title


@register.filter
def paragraphs(docstring: str) -> list[SafeString]:
    """The paragraphs of an evaluator's docstring, each on one line, with `names` as code."""
    lines = [" ".join(paragraph.split()) for paragraph in docstring.split("\n\n")]
    return [mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(line))) for line in lines]


@register.filter
def breakable(signature: str) -> SafeString:
    """A signature that may break behind each of its parts."""
    return format_html_join(mark_safe("|<wbr>"), "{}", ((part,) for part in signature.split("|")))


@register.filter
def needs_in_words(evaluator: Mapping[str, Any]) -> str:
    """What an evaluator needs beside the summary, and with which parameters that changes."""
    values: dict[tuple[str, str], list[str]] = {}
    for each in evaluator["needs_if"]:
        values.setdefault((each["parameter"], _listed(each["needs"])), []).append(
            value_as_text(each["value"])
        )
    changes = [
        f"with {parameter} = {' or '.join(these)}: {needs}" for (parameter, needs), these in values.items()
    ]
    return "; ".join([_listed(evaluator["needs"]), *changes])


@register.filter
def needs_in_short(evaluator: Mapping[str, Any]) -> str:
    """What an evaluator needs beside the summary, and what else with other parameters, which go unnamed."""
    alternatives = [evaluator["needs"], *(each["needs"] for each in evaluator["needs_if"])]
    return "; or ".join(dict.fromkeys(map(_listed, alternatives)))


@register.filter
def authors_and_year(source: str) -> str:
    """A source without its titles: "Lin 2004"; whole if it has no year."""
    found = re.match(r".*?\b(19|20)\d\d\b", source)
    return found[0] if found else source


def _listed(needs: list[str]) -> str:
    return ", ".join(WORDS[need] for need in needs) or "the summary alone"
