"""What a summary is compared with, and one number from several: rules that evaluators share."""

from collections.abc import Sequence
from math import fsum, isnan, nan
from typing import Any

from scoring.contract import Item
from scoring.params import param


def against_param(default: str = "references", doc: str = "What the summary is compared with.") -> Any:
    """The parameter `against`; its values are those of `Need` and the names in `shares_read`."""
    return param(default, choices=("references", "article"), doc=doc)


def references_param(default: str, note: str = "") -> Any:
    """The parameter `references`."""
    return param(
        default,
        choices=("max", "mean", "first"),
        doc="Which of several references counts: the one with the highest score, the average over all, or "
        f"the first that is not blank.{note and f' {note}'}",
    )


def long_article_param(note: str = "", what: str = "An article") -> Any:
    """The parameter `long_article`."""
    return param(
        "cut",
        choices=("cut", "parts_max", "parts_mean"),
        doc=f"{what} that the model cannot read at once: read its beginning only, or all of it in equal "
        f"parts, of which the highest score or the average counts.{note and f' {note}'}",
    )


def readable_references(item: Item) -> list[str]:
    """The item's references that are not blank, in their order."""
    return [text for text in item.references if text.strip()]


def counted_references(item: Item, references: str) -> list[str]:
    """Those that are not blank and count by the parameter `references`."""
    texts = readable_references(item)
    return texts[:1] if references == "first" else texts


def compared_texts(item: Item, against: str, references: str) -> list[str]:
    """What the summary is compared with, by the parameters of these names."""
    return [item.article or ""] if against == "article" else counted_references(item, references)


def combined(values: Sequence[float], rule: str) -> float:
    """One of `values`, at least one, by a value of `references`, `long_article` or the like.

    Its last word counts: max, min, mean; by any other there is one value, or the first counts. A value that
    is nan is not passed over.
    """
    if any(map(isnan, values)):
        return nan
    match rule.removeprefix("parts_"):
        case "mean":
            return fsum(values) / len(values)
        case "max":
            return max(values)
        case "min":
            return min(values)
    return values[0]
