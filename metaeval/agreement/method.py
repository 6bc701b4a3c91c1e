"""The method of computing agreement: the scale of the answers and the interval."""

from dataclasses import dataclass
from typing import NamedTuple

from metaeval.stats.agreement.krippendorff import SCALES
from metaeval.stats.check_choice import check_choice
from metaeval.stats.method import NONE, refuse_resampling

OWN_SCALE = "own"
"""Each question's own scale."""


class AgreementInterval(NamedTuple):
    label: str
    drawn: str
    """The way of drawing samples, for the definition."""


INTERVALS: dict[str, AgreementInterval] = {
    "articles": AgreementInterval(
        "bootstrap over articles",
        "percentile bootstrap over articles, drawn with replacement, each with all its summaries that have"
        " two ratings or more",
    ),
    "units": AgreementInterval(
        "bootstrap over summaries",
        "percentile bootstrap over summaries: those with two ratings or more, drawn with replacement as if"
        " summaries of one article were independent; too narrow where articles differ",
    ),
    "units_bca": AgreementInterval(
        "BCa bootstrap over summaries",
        "bias-corrected and accelerated bootstrap over summaries: those with two ratings or more, drawn with"
        " replacement as if summaries of one article were independent; too narrow where articles differ",
    ),
    "raters": AgreementInterval(
        "bootstrap over raters",
        "percentile bootstrap over raters, drawn with replacement, each with all their ratings; one drawn"
        " twice counts as two raters, who are not compared with each other",
    ),
}


@dataclass(frozen=True)
class AgreementMethod:
    """Settings of agreement. Raises DomainError for an unknown name or a number out of range."""

    scale: str = OWN_SCALE
    interval: str = "articles"
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("scale", self.scale, (OWN_SCALE, *SCALES))
        check_choice("interval", self.interval, (NONE, *INTERVALS))
        refuse_resampling(self.resamples, self.seed)
