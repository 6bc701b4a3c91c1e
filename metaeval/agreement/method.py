"""How the figures of agreement are computed: the scale of the answers, and the interval."""

from dataclasses import dataclass
from typing import NamedTuple

from annotation.errors import DomainError
from metaeval.method import MOST_RESAMPLES, NONE
from metaeval.refuse_unknown import refuse_unknown
from metaeval.stats.agreement.krippendorff import SCALES

OWN_SCALE = "own"
"""In place of a scale: the one that each question has."""


class IntervalMethod(NamedTuple):
    label: str
    drawn: str
    """What is drawn again, for a definition."""


INTERVALS: dict[str, IntervalMethod] = {
    "units": IntervalMethod(
        "bootstrap over summaries",
        "percentile bootstrap over summaries: those with two ratings or more, drawn with replacement",
    ),
    "units_bca": IntervalMethod(
        "BCa bootstrap over summaries",
        "bias-corrected and accelerated bootstrap over summaries: those with two ratings or more, drawn with"
        " replacement",
    ),
    "raters": IntervalMethod(
        "bootstrap over raters",
        "percentile bootstrap over raters, drawn with replacement, each with all their ratings; one drawn"
        " twice counts as two raters, who are not compared with each other",
    ),
}


@dataclass(frozen=True)
class AgreementMethod:
    """Raises DomainError for a name that does not exist, or a number outside its range."""

    scale: str = OWN_SCALE
    interval: str = "units"
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        refuse_unknown("scale", self.scale, (OWN_SCALE, *SCALES))
        refuse_unknown("interval", self.interval, (NONE, *INTERVALS))
        if not 1 <= self.resamples <= MOST_RESAMPLES:
            raise DomainError(f"resamples: found {self.resamples}, expected 1 to {MOST_RESAMPLES:,}")
        if self.seed < 0:
            raise DomainError(f"seed: found {self.seed}, expected 0 or more")
