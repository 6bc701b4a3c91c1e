"""What a judge is told of the dimension it scores: the text beside the summary, and the question."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scoring.contract import Item, PoolExample

PROMPTS = Path(__file__).parent.parent / "evaluators" / "prompts"
"""Prompt texts. A file is never edited, since stored scores depend on it: a change is a new file."""

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
"""What stands beside the summary in the prompt, for the dimensions of SEAHORSE and SummEval."""


@dataclass(frozen=True)
class Dimension:
    """One thing to judge. `sees` is article, reference or summary (nothing beside it)."""

    name: str
    sees: str
    description: str = ""

    @property
    def title(self) -> str:
        """The name as words, as a prompt writes it."""
        return single_line(self.name.replace("_", " ")).capitalize()

    def beside(self, example: PoolExample | Item) -> str | None:
        """The text beside the summary, of references the first not blank; None where it is missing.

        Without one to see, an empty text.
        """
        if self.sees == "summary":
            return ""
        texts = (example.article or "",) if self.sees == "article" else example.references
        return next((text for text in texts if text.strip()), None)


def ready_dimensions() -> dict[str, Dimension]:
    """The dimensions of SEAHORSE and SummEval by name, as prompts know them where nobody says otherwise."""
    return {name: Dimension(name, SEES[name], text) for name, text in _ready_descriptions().items()}


def seen_beside(dimensions: Iterable[str], entries: Sequence[str]) -> dict[str, str]:
    """Dimension -> article, reference or summary, by `entries` such as `focus=article`, else by `SEES`.

    Raises ValueError for a wrong entry, and where nothing says which.
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
    for dimension in dimensions:
        if dimension not in table:
            raise ValueError(
                f"parameter 'sees': found nothing for the dimension {dimension!r}, expected for "
                f"example {dimension}=article"
            )
    return {dimension: table[dimension] for dimension in dimensions}


def described(dimensions: Iterable[str], entries: str) -> dict[str, str]:
    """Dimension -> description, by `entries` as `read_descriptions` takes them, else the ready ones.

    Raises ValueError for a wrong entry, and where a dimension has no description.
    """
    table = {**_ready_descriptions(), **read_descriptions(entries)}
    for dimension in dimensions:
        if dimension not in table:
            raise ValueError(
                f"parameter 'descriptions': found nothing for the dimension {dimension!r}, expected for "
                f"example {dimension}=Is the summary ...?"
            )
    return {dimension: table[dimension] for dimension in dimensions}


@cache
def _ready_descriptions() -> dict[str, str]:
    return read_descriptions((PROMPTS / "descriptions_v1.txt").read_text("utf-8"))


def read_descriptions(entries: str) -> dict[str, str]:
    """Dimension -> description, by `entries` such as `focus=Is it on topic?; style=...`.

    As a JSON object of texts they may hold semicolons and line breaks, too. A description is one line then.
    Raises ValueError for a wrong entry.
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
    """What `read_descriptions` reads, whatever the names and descriptions hold."""
    return json.dumps(dict(table), ensure_ascii=False)


def _read_json(entries: str) -> dict[str, str] | None:
    """None where these are no JSON object. Raises ValueError where it holds anything but texts."""
    try:
        found = json.loads(entries)
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
    """White space as single spaces, so that no part of a text begins a line of a prompt."""
    return " ".join(text.split())
