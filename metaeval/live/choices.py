"""A reader's choices, which are kept in the page's address only."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self
from urllib.parse import urlencode

from django.http import QueryDict

from annotation.errors import DomainError
from metaeval.snapshot.arrays import ALL
from metaeval.stats.method import Method


@dataclass(frozen=True)
class Choices:
    """Choices as texts or tuples of texts. The address leaves out the defaults."""

    @classmethod
    def read(cls, query: QueryDict) -> Self:
        """Return the choices in the address; empty parameters count as missing, unknown ones are ignored."""
        given: dict[str, Any] = {}
        for field in fields(cls):
            values = [value for value in query.getlist(field.name) if value]
            if values:
                given[field.name] = tuple(values) if isinstance(field.default, tuple) else values[-1]
        return cls(**given)

    def address(self, **changes: Any) -> str:
        """Return the query part of the address, with its question mark, after these changes."""
        changed = replace(self, **changes)
        given = ((field, getattr(changed, field.name)) for field in fields(self))
        chosen = {field.name: value for field, value in given if value != field.default}
        return f"?{urlencode(chosen, doseq=True)}"


@dataclass(frozen=True)
class ComparisonChoices(Choices):
    level: str = "pooled"
    coefficient: str = "spearman"
    interval: str = Method.interval
    test: str = Method.test
    correction: str = Method.correction
    items: str = "own"
    constant: str = Method.constant
    """The treatment of articles with equal scores."""
    margin: str = ""
    """The loss with which an evaluator still counts as good, a number as text; empty: not tested."""
    language: str = ALL
    dataset: str = ALL
    systems: tuple[str, ...] = ()
    """Names of the systems whose summaries count; none for all."""
    questions: tuple[str, ...] = ()
    """Keys of the questions to show; none for all."""
    group: str = ""
    labels: str = "mean"
    """The rule by which several raters' answers become one label."""
    only: tuple[str, ...] = ()
    """Keys of the evaluators to compare; none for all."""
    evaluator: str = ""
    question: str = ""
    """The selected cell's question, beside its `evaluator`."""

    def method(self, *, is_live: bool) -> Method:
        """Return the statistical method, for figures that still change if `is_live`.

        Raises DomainError for an unknown name, and a margin that is no number from 0 to 1.
        """
        try:
            margin = float(self.margin or 0)
        except ValueError:
            raise DomainError(f"margin: found '{self.margin}', expected a number such as 0.02") from None
        return Method(
            self.level,
            self.coefficient,
            self.interval,
            self.test,
            self.correction,
            self.items,
            self.constant,
            margin,
            is_live=is_live,
        )


@dataclass(frozen=True)
class AgreementChoices(Choices):
    statistic: str = "krippendorff_alpha"
    interval: str = "by_state"
    scale: str = "own"
    group: str = ""
    question: str = ""
    language: str = ALL
    """The selected cell's language, beside its `question`."""
    by: str = "language"
    """The columns: languages, datasets or weeks."""


@dataclass(frozen=True)
class PairChoices(Choices):
    """One evaluator and one question."""

    evaluator: str = ""
    """Key; the first one if empty."""
    question: str = ""
    """Key; the first that the evaluator scores if empty."""
    language: str = ALL
    group: str = ""
    labels: str = "mean"
    """The rule by which several raters' answers become one label."""


@dataclass(frozen=True)
class Control:
    """A menu of the page."""

    name: str
    label: str
    options: Sequence[tuple[str, str]]
    """Values and their labels."""
    value: str

    @property
    def is_a_choice(self) -> bool:
        return len(self.options) > 1
