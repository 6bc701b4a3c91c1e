"""The texts that a summary is compared with, and one number from several: shared rules."""

from collections.abc import Sequence
from math import fsum, isnan, nan
from typing import Any

from annotation.declared.settings import setting
from annotation.imports.reading.blank_texts import is_blank
from scoring.contract.items import Item


def against_setting(
    default: str = "references", help: str = "Texts that the summary is compared with."
) -> Any:
    """Declare the setting `against`; its values are those of `Need` and the names in `shares_read`."""
    return setting(
        default,
        label="Compare with",
        help=help,
        choices={"references": "references", "article": "article"},
        phrase="against the {}",
    )


def references_setting(default: str, note: str = "") -> Any:
    """Declare the setting `references`."""
    return setting(
        default,
        label="Several references",
        help="The reference that counts when a summary has several.",
        choices={"max": "best reference", "mean": "mean over references", "first": "first reference"},
        details=f"Blank references do not count.{note and f' {note}'}",
    )


def long_article_setting(note: str = "") -> Any:
    """Declare the setting `long_article`."""
    return setting(
        "cut",
        label="Long articles",
        help="Way of reading an article beyond the model's limit.",
        choices={"cut": "beginning only", "parts_max": "best part", "parts_mean": "mean over parts"},
        phrase="long articles: {}",
        details=f"Parts are of equal length.{note and f' {note}'}",
    )


def measure_setting(other: str) -> Any:
    """Declare the setting `measure`; recall averages over the words of `other`."""
    return setting(
        "f1",
        label="Measure",
        help=f"Precision averages over the summary's words, recall over {other}.",
        choices={"f1": "F1", "precision": "precision", "recall": "recall"},
        details="F1 is the harmonic mean of the two.",
    )


def readable_references(item: Item) -> list[str]:
    """Return the item's references that are not blank, in order."""
    return [text for text in item.references if not is_blank(text)]


def counted_references(item: Item, references: str) -> list[str]:
    """Return the references that are not blank and count by the parameter `references`."""
    texts = readable_references(item)
    return texts[:1] if references == "first" else texts


def compared_texts(item: Item, against: str, references: str) -> list[str]:
    """Return the texts to compare the summary with, by the parameters of these names."""
    return [item.article or ""] if against == "article" else counted_references(item, references)


def combined(values: Sequence[float], rule: str) -> float:
    """Combine `values`, at least one, by a value of `references`, `long_article` or the like.

    The rule's last word decides: max or mean; by any other, the first value counts. A nan makes the result
    nan.
    """
    if any(map(isnan, values)):
        return nan
    match rule.removeprefix("parts_"):
        case "mean":
            return fsum(values) / len(values)
        case "max":
            return max(values)
    return values[0]
