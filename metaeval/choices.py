"""What a reader of the pages has chosen, which is kept in the page's address and nowhere else."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self
from urllib.parse import urlencode

from django.http import QueryDict

from annotation.errors import DomainError
from metaeval.judgements import ALL


def refuse_unknown(name: str, value: str, allowed: Sequence[str]) -> None:
    """Raise DomainError unless `value` is among `allowed`, of which the empty one stands for no choice."""
    if value not in allowed:
        choices = ", ".join(choice for choice in allowed if choice)
        raise DomainError(f"{name}: found {value!r}, expected one of {choices or '(none yet)'}")


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
        defaults = asdict(type(self)())
        chosen = {
            name: value for name, value in asdict(replace(self, **changes)).items() if value != defaults[name]
        }
        return f"?{urlencode(chosen, doseq=True)}"


@dataclass(frozen=True)
class MetaevalChoices(Choices):
    level: str = "pooled"
    coefficient: str = "spearman"
    language: str = ALL
    group: str = ""
    only: tuple[str, ...] = ()
    """Keys of the evaluators that are compared; none for all."""
    evaluator: str = ""
    question: str = ""
    """With `evaluator`: the figure that is drawn."""


@dataclass(frozen=True)
class AgreementChoices(Choices):
    statistic: str = "krippendorff_alpha"
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
