"""The output of evaluators: scores, or the reasons why there are none."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

EMPTY_SUMMARY = "empty summary"
NO_ARTICLE = "no article"
NO_REFERENCE = "no reference"
OUT_OF_MEMORY = "out of memory"
NOT_FINITE = "the model gave no finite number"


@dataclass(frozen=True, slots=True)
class Scored:
    """One summary's scores: for each dimension a finite number, or nan and a reason.

    `explanations` keeps, per dimension, the evidence for the score or its absence (a model's reply).
    `shares_read` has the texts that a model's limit cut ("article", "summary", "references"): the share of
    the text's tokens that was read, in [0, 1). Texts read whole are left out.
    """

    values: Mapping[str, float]
    reasons: Mapping[str, str] = field(default_factory=dict)
    explanations: Mapping[str, str] = field(default_factory=dict)
    shares_read: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for dimension, value in self.values.items():
            if math.isinf(value):
                raise ValueError(f"score of {dimension!r} is infinite")
            if math.isnan(value) != bool(self.reasons.get(dimension)):
                raise ValueError(f"{dimension!r} is {value}: nan needs a reason, and only nan has one")
        for text, share in self.shares_read.items():
            if not 0 <= share < 1:
                raise ValueError(f"share read of {text!r} is {share}, not from 0 to below 1")

    @classmethod
    def of(cls, values: Mapping[str, float]) -> Self:
        return cls(values)

    @classmethod
    def computed(
        cls,
        values: Mapping[str, float | str],
        explanations: Mapping[str, str] | None = None,
        shares_read: Mapping[str, float] | None = None,
    ) -> Self:
        """Return numbers, and reasons where there is a text; a number that is not finite gets a reason."""
        reasons = {
            name: value if isinstance(value, str) else NOT_FINITE
            for name, value in values.items()
            if isinstance(value, str) or not math.isfinite(value)
        }
        numbers = {name: math.nan if name in reasons else float(value) for name, value in values.items()}
        return cls(numbers, reasons, explanations or {}, shares_read or {})

    @classmethod
    def unscored(cls, dimensions: Iterable[str], reason: str) -> Self:
        dimensions = tuple(dimensions)
        return cls(dict.fromkeys(dimensions, math.nan), dict.fromkeys(dimensions, reason))

    def without(self, dimensions: Collection[str], reason: str) -> Self:
        """Return the same with this reason instead of scores on `dimensions`."""
        if not dimensions:
            return self
        return replace(
            self,
            values={**self.values, **dict.fromkeys(dimensions, math.nan)},
            reasons={**self.reasons, **dict.fromkeys(dimensions, reason)},
            explanations={name: text for name, text in self.explanations.items() if name not in dimensions},
        )


def shares_read(shares: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return text's name -> share read, the smallest if several; texts read whole are left out."""
    found: dict[str, float] = {}
    for name, share in shares:
        if share < 1:
            found[name] = min(share, found.get(name, 1.0))
    return found


def share_of(read: int, whole: int) -> float:
    """Return the share read of a text of `whole` tokens; 1 for a text without any."""
    return min(1.0, read / whole) if whole else 1.0


def shares_in_words(shares: Mapping[str, float]) -> str:
    """Return such as "read: 71% of the article"; empty if all was read."""
    return (
        "read: " + ", ".join(f"{share:.0%} of the {name}" for name, share in shares.items()) if shares else ""
    )


Input = TypeVar("Input")
Result = TypeVar("Result")


class NotFinite(ArithmeticError):
    """A model gave no finite number where a choice depends on it."""


def isolate_not_finite(
    inputs: Sequence[Input], compute: Callable[[Sequence[Input]], list[Result]], without: Result
) -> list[Result]:
    """Return the results of `compute`, one for each input; `without` for each that raises NotFinite.

    `compute` is given all inputs, and each by itself if that raises NotFinite.
    """
    try:
        return compute(inputs)
    except NotFinite:
        if len(inputs) == 1:
            return [without]
    return [isolate_not_finite([each], compute, without)[0] for each in inputs]
