"""What a statistic returns: the number, and all that must be said beside it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


def _refuse_value_without_reason(value: float, reason: str) -> None:
    if math.isnan(value) and not reason:
        raise ValueError("an undefined value needs a reason")
    if reason and not math.isnan(value):
        raise ValueError(f"the value is {value}, so it cannot be undefined because of {reason!r}")


def or_none(value: float) -> float | None:
    """`value`, and None for nan, which JSON does not have."""
    return None if math.isnan(value) else value


class NoIntervalError(ValueError):
    """There is no interval; the message says why, for readers."""


@dataclass(frozen=True)
class Interval:
    """Where a statistic may lie, were the data drawn again.

    Raises ValueError if an end is nan without a reason, or has a reason without being nan.
    """

    low: float
    """nan if there is no interval."""
    high: float
    definition: str
    """What was drawn again, how often, with which seed, or which formula; the confidence: full sentences."""
    reason: str = ""
    """Why there is no interval; empty if there is one."""

    def __post_init__(self) -> None:
        _refuse_value_without_reason(self.low, self.reason)
        _refuse_value_without_reason(self.high, self.reason)

    @classmethod
    def found(cls, definition: str, ends: Callable[[], tuple[float, float]]) -> "Interval":
        """The `ends`; if they raise NoIntervalError, its message is the reason why there is none."""
        try:
            low, high = ends()
        except NoIntervalError as why_not:
            return cls(math.nan, math.nan, definition, str(why_not))
        return cls(low, high, definition)


@dataclass(frozen=True)
class Estimate:
    """How well scores agree with human labels.

    Raises ValueError if `value` is nan without a reason, or has a reason without being nan.
    """

    value: float
    """The coefficient; nan if undefined."""
    n: int
    """Summaries the value stands on, each with a label and a score."""
    articles: int | None
    """Articles these summaries are of; None if the article of some is not known."""
    systems: int | None
    """Systems that wrote these summaries; None if the system of some is not known."""
    definition: str
    """Level, coefficient with its formula, and the rule for what is left out: full sentences."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """What was left out and why -> how many. The words say of what: summaries, articles or systems."""
    reason: str = ""
    """Why the value is undefined; empty if it is defined."""
    interval: Interval | None = None
    """None if none was asked for."""

    def __post_init__(self) -> None:
        _refuse_value_without_reason(self.value, self.reason)


@dataclass(frozen=True)
class Agreement:
    """How well raters agree with each other.

    Raises ValueError if `value` is nan without a reason, or has a reason without being nan.
    """

    value: float
    """The statistic; nan if undefined."""
    units: int
    """Summaries the value stands on, each with two ratings or more."""
    ratings: int
    """Ratings of these summaries."""
    definition: str
    """Statistic, formula and the rule for what is left out: full sentences."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """What was left out and why -> how many summaries."""
    reason: str = ""
    """Why the value is undefined; empty if it is defined."""
    interval: Interval | None = None
    """None if none was asked for."""

    def __post_init__(self) -> None:
        _refuse_value_without_reason(self.value, self.reason)
