"""What a reader of the pages has chosen, which is kept in the page's address and nowhere else."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self
from urllib.parse import urlencode

from django.http import QueryDict

from metaeval.judgements import ALL
from metaeval.method import Method


@dataclass(frozen=True)
class Choices:
    """Fields are texts, or tuples of texts; each has a default, which the address leaves out."""

    @classmethod
    def read(cls, query: QueryDict) -> Self:
        """What the address says; empty and missing parameters leave the default, foreign ones are ignored."""
        given: dict[str, Any] = {}
        for field in fields(cls):
            values = [value for value in query.getlist(field.name) if value]
            if values:
                given[field.name] = tuple(values) if isinstance(field.default, tuple) else values[-1]
        return cls(**given)

    def address(self, **changes: Any) -> str:
        """The query part of the page's address, with its question mark, after some changes."""
        changed = replace(self, **changes)
        given = ((field, getattr(changed, field.name)) for field in fields(self))
        chosen = {field.name: value for field, value in given if value != field.default}
        return f"?{urlencode(chosen, doseq=True)}"


@dataclass(frozen=True)
class MetaevalChoices(Choices):
    level: str = "pooled"
    coefficient: str = "spearman"
    interval: str = "bootstrap_articles"
    test: str = "bootstrap_articles"
    correction: str = "holm"
    items: str = "own"
    language: str = ALL
    dataset: str = ALL
    systems: tuple[str, ...] = ()
    """Names of the systems whose summaries count; none for all."""
    questions: tuple[str, ...] = ()
    """Keys of the questions that are shown; none for all."""
    group: str = ""
    labels: str = "mean"
    """The rule by which several raters' answers become one label."""
    only: tuple[str, ...] = ()
    """Keys of the evaluators that are compared; none for all."""
    evaluator: str = ""
    question: str = ""
    """With `evaluator`: the figure that is drawn."""

    @property
    def method(self) -> Method:
        """Raises DomainError for a name that does not exist."""
        return Method(self.level, self.coefficient, self.interval, self.test, self.correction, self.items)


@dataclass(frozen=True)
class AgreementChoices(Choices):
    statistic: str = "krippendorff_alpha"
    interval: str = "units"
    scale: str = "own"
    group: str = ""
    question: str = ""
    language: str = ALL
    """With `question`: the figure that is drawn."""


@dataclass(frozen=True)
class Control:
    """A choice as the page offers it."""

    name: str
    label: str
    options: Sequence[tuple[str, str]]
    """Values and their names."""
    value: str

    @property
    def is_a_choice(self) -> bool:
        return len(self.options) > 1
