"""Filters that describe evaluators on pages."""

import re
from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import escape, format_html_join
from django.utils.safestring import SafeString, mark_safe

from scoring.contract import params
from scoring.evaluators import EVALUATORS, load_evaluator
from scoring.prompts.dimensions import Dimension

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
    """Return an evaluator's title; its name if this version no longer has it."""
    return load_evaluator(name).title if name in EVALUATORS else name


@register.filter
def param_label(parameter: str, evaluator: str) -> str:
    """Return the label of an evaluator's parameter."""
    return params.param_label(load_evaluator(evaluator), parameter)


@register.filter
def dimension_title(name: str) -> str:
    """Return a dimension's name as words."""
    return Dimension(name, "summary").title


@register.filter
def paragraphs(docstring: str) -> list[SafeString]:
    """Return the paragraphs of an evaluator's docstring, each on one line, with `names` as code."""
    lines = [" ".join(paragraph.split()) for paragraph in docstring.split("\n\n")]
    return [mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(line))) for line in lines]  # noqa: S308


@register.filter
def breakable(signature: str) -> SafeString:
    """Return a signature with line breaks allowed after each part."""
    return format_html_join(mark_safe("|<wbr>"), "{}", ((part,) for part in signature.split("|")))


@register.filter
def needs_in_words(evaluator: Mapping[str, Any]) -> str:
    """Return what an evaluator needs besides the summary, and which parameters change that."""
    values: dict[tuple[str, str], list[str]] = {}
    for each in evaluator["needs_if"]:
        declared = next(spec for spec in evaluator["parameters"] if spec["name"] == each["parameter"])
        words = declared["choices"][each["value"]]
        values.setdefault((declared["label"], needs_listed(each["needs"])), []).append(words)
    changes = [f"{label} “{'” or “'.join(these)}”: {needs}" for (label, needs), these in values.items()]
    return "; ".join([needs_listed(evaluator["needs"]), *changes])


@register.filter
def needs_in_short(evaluator: Mapping[str, Any]) -> str:
    """Return what an evaluator needs besides the summary, with alternatives but without parameters."""
    alternatives = [evaluator["needs"], *(each["needs"] for each in evaluator["needs_if"])]
    return "; or ".join(dict.fromkeys(map(needs_listed, alternatives)))


@register.filter
def dimensions_in_words(evaluator: Mapping[str, Any]) -> str:
    """Return the dimensions that an evaluator scores, and 'lower is better' if so."""
    dimensions = evaluator["dimensions"]
    if dimensions is None:
        words = "each dimension of its parameters or of the labelled pool"
    elif dimensions == ["general"]:
        words = "one number, compared with every dimension"
    else:
        words = ", ".join(dimensions)
    return words if evaluator["higher_is_better"] else f"{words}; lower is better"


@register.filter
def authors_and_year(source: str) -> str:
    """Return authors and year of a source, such as "Lin 2004"; all of it if it has no year."""
    found = re.match(r".*?\b(19|20)\d\d\b", source)
    return found[0] if found else source


@register.filter
def needs_listed(needs: list[str]) -> str:
    """Return these needs in words."""
    return ", ".join(WORDS[need] for need in needs) or "the summary alone"
