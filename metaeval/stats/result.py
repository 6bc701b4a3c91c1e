"""What a statistic returns: the number, and all that must be said beside it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


def _refuse_value_without_reason(value: float, reason: str) -> None:
    if math.isnan(value) and not reason:
        raise ValueError("an undefined value needs a reason")
    if reason and not math.isnan(value):
        raise ValueError(f"the value is {value}, so it cannot be undefined because of {reason!r}")


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

    def __post_init__(self) -> None:
        _refuse_value_without_reason(self.value, self.reason)
