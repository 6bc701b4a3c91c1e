"""The dimensions that a judge scores: the text beside the summary, and the description."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from annotation.imports.reading.blank_texts import is_blank
from annotation.texts.nested_json import read_json
from scoring.contract.items import Item, PoolExample

PROMPTS = Path(__file__).parent / "texts"
"""Prompt texts. Never edit a file, since stored scores depend on it: add a new one."""

SEES: Mapping[str, str] = {
    "comprehensibility": "summary",
    "repetition": "summary",
    "grammar": "summary",
    "attribution": "article",
    "main_ideas": "article",
    "conciseness": "article",
    "coherence": "summary",
    "consistency": "article",
    "fluency": "summary",
    "relevance": "reference",
}
"""Dimension of SEAHORSE or SummEval -> the text beside the summary in its prompt."""


@dataclass(frozen=True)
class Dimension:
    """A dimension to judge. `sees` is article, reference or summary (nothing beside it)."""

    name: str
    sees: str
    description: str = ""

    @property
    def title(self) -> str:
        """The name in words, for prompts."""
        return single_line(self.name.replace("_", " ")).capitalize()

    def beside(self, example: PoolExample | Item) -> str | None:
        """Return the text beside the summary: the first reference that is not blank, or the article.

        Return None if it is missing, and an empty text if the dimension sees only the summary.
        """
        if self.sees == "summary":
            return ""
        texts = (example.article or "",) if self.sees == "article" else example.references
        return next((text for text in texts if not is_blank(text)), None)


def ready_dimensions() -> dict[str, Dimension]:
    """Return the dimensions of SEAHORSE and SummEval by name."""
    return {name: Dimension(name, SEES[name], text) for name, text in _ready_descriptions().items()}


def seen_beside(dimensions: Iterable[str], entries: Sequence[str]) -> dict[str, str]:
    """Return dimension -> article, reference or summary, by `entries` such as `focus=article`, else `SEES`.

    Raises ValueError for an invalid entry or a dimension in neither.
    """
    table = dict(SEES)
    for entry in entries:
        dimension, _, what = entry.rpartition("=")
        if not dimension or what not in ("article", "reference", "summary"):
            raise ValueError(
                f"parameter 'sees': found {entry!r}, expected dimension=article, dimension=reference "
                "or dimension=summary"
            )
        table[dimension] = what
    return _entries_for(dimensions, table, "sees", "article")


def described(dimensions: Iterable[str], entries: str) -> dict[str, str]:
    """Return dimension -> description, by `entries` as in `read_descriptions`, else the ready ones.

    Raises ValueError for an invalid entry or a dimension without description.
    """
    table = {**_ready_descriptions(), **read_descriptions(entries)}
    return _entries_for(dimensions, table, "descriptions", "Is the summary ...?")


def _entries_for(
    dimensions: Iterable[str], table: Mapping[str, str], parameter: str, example: str
) -> dict[str, str]:
    """Return the table's entries for these dimensions. Raises ValueError if one is missing."""
    for dimension in dimensions:
        if dimension not in table:
            raise ValueError(
                f"parameter {parameter!r}: found nothing for the dimension {dimension!r}, expected for "
                f"example {dimension}={example}"
            )
    return {dimension: table[dimension] for dimension in dimensions}


@cache
def _ready_descriptions() -> dict[str, str]:
    return read_descriptions((PROMPTS / "descriptions_v1.txt").read_text("utf-8"))


def read_descriptions(entries: str) -> dict[str, str]:
    """Read dimension -> description from `entries` such as `focus=Is it on topic?; style=...`.

    A JSON object of texts may also contain semicolons and line breaks, which become spaces. Raises ValueError
    for an invalid entry.
    """
    table = _read_json(entries)
    if table is not None:
        return table
    table = {}
    for entry in filter(None, map(str.strip, re.split(r"[;\n]", entries))):
        dimension, _, description = (part.strip() for part in entry.partition("="))
        if not dimension or not description:
            raise ValueError(
                f"parameter 'descriptions': found {entry!r}, expected dimension=description, several "
                "separated by semicolons"
            )
        table[dimension] = single_line(description)
    return table


def write_descriptions(table: Mapping[str, str]) -> str:
    """Return the table as text for `read_descriptions`, whatever it contains."""
    return json.dumps(dict(table), ensure_ascii=False)


def _read_json(entries: str) -> dict[str, str] | None:
    """Return the table, or None if it is no JSON object. Raises ValueError for values other than texts."""
    try:
        found = read_json(entries)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    for dimension, description in found.items():
        if not dimension.strip() or not isinstance(description, str) or not description.strip():
            raise ValueError(
                f"parameter 'descriptions': found {description!r} for {dimension!r}, expected a dimension "
                "and its description"
            )
    return {dimension.strip(): single_line(description) for dimension, description in found.items()}


def single_line(text: str) -> str:
    """Replace white space by single spaces, so that no part of a text begins a line of a prompt."""
    return " ".join(text.split())
