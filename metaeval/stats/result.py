"""The result of a statistic: the value and everything a reader needs beside it."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field


def _refuse_value_without_reason(value: float, reason: str) -> None:
    if math.isnan(value) and not reason:
        raise ValueError("an undefined value needs a reason")
    if reason and not math.isnan(value):
        raise ValueError(f"the value is {value}, so it cannot be undefined because of {reason!r}")


def or_none(value: float) -> float | None:
    """Return `value`, or None for nan, which JSON does not have."""
    return None if math.isnan(value) else value


def each_once(texts: Iterable[str]) -> list[str]:
    """Return the texts that are not empty, without duplicates, in order."""
    return list(dict.fromkeys(filter(None, texts)))


def value_and_ends(value: float, interval: "Interval | None") -> dict[str, float | None]:
    """Return `value`, `low` and `high` of a row; None where undefined."""
    low, high = (interval.low, interval.high) if interval else (math.nan, math.nan)
    return {"value": or_none(value), "low": or_none(low), "high": or_none(high)}


def reasons(reason: str, interval: "Interval | None") -> dict[str, str]:
    """Return `interval_reason` and `reason` of a row, each only where it says something."""
    why_not = {"interval_reason": interval.reason if interval else "", "reason": reason}
    return {name: words for name, words in why_not.items() if words}


class NoIntervalError(ValueError):
    """There is no interval. The message says why, for readers."""


@dataclass(frozen=True)
class Interval:
    """The range in which a statistic may lie in other data of the same kind.

    Raises ValueError if an end is nan without a reason, or has a reason without being nan.
    """

    low: float
    """Lower end; nan if there is no interval."""
    high: float
    definition: str
    """The resampling (what, how often, seed) or formula, and the confidence: full sentences."""
    reason: str = ""
    """The reason why there is no interval; else empty."""

    def __post_init__(self) -> None:
        _refuse_value_without_reason(self.low, self.reason)
        _refuse_value_without_reason(self.high, self.reason)

    @classmethod
    def found(cls, definition: str, ends: Callable[[], tuple[float, float]]) -> "Interval":
        """Return the interval with these `ends`, or none with the message of NoIntervalError as reason."""
        try:
            low, high = ends()
        except NoIntervalError as why_not:
            return cls(math.nan, math.nan, definition, str(why_not))
        return cls(low, high, definition)


@dataclass(frozen=True, kw_only=True)
class Result:
    """A value with what a reader needs beside it.

    Raises ValueError if `value` is nan without a reason, or has a reason without being nan.
    """

    value: float
    """The statistic's value; nan if undefined."""
    definition: str
    """Statistic, formula and the rule for what is left out: full sentences."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> how many summaries, articles, systems or raters were left out; the reason says which."""
    reason: str = ""
    """The reason why the value is undefined; else empty."""
    interval: Interval | None = None
    """The interval of `value`; None unless requested."""

    def __post_init__(self) -> None:
        _refuse_value_without_reason(self.value, self.reason)


@dataclass(frozen=True, kw_only=True)
class Estimate(Result):
    """The agreement of scores with human labels."""

    n: int
    """Summaries with a label and a score."""
    articles: int | None
    """Articles of these summaries; None if some are not known."""
    systems: int | None
    """Systems of these summaries; None if some are not known."""
    counted_as_zero: Mapping[str, int] = field(default_factory=dict)
    """Reason -> how many articles, or systems, of a mean count as 0."""


@dataclass(frozen=True, kw_only=True)
class Agreement(Result):
    """The agreement of raters with each other."""

    units: int
    """Summaries with two ratings or more."""
    ratings: int
    """Ratings of these summaries."""
