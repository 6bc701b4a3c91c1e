"""How evaluators are described on pages."""

from collections.abc import Mapping
from typing import Any

from django import template

from scoring.params import value_as_text

register = template.Library()

WORDS = {"article": "the article", "references": "references", "labelled_pool": "human labels to learn from"}


@register.filter
def first_paragraph(text: str) -> str:
    return text.split("\n\n")[0]


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
