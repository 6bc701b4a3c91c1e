"""The method of computing agreement: the scale of the answers and the interval."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from metaeval.stats.agreement.krippendorff import SCALES
from metaeval.stats.check_choice import check_choice
from metaeval.stats.method import NONE, refuse_resampling

OWN_SCALE = "own"
"""Each question's own scale."""


BY_STATE = "by_state"
"""The interval that holds at every look until the campaign is closed, then the one for a single look."""
ALWAYS_VALID, ARTICLES = "always_valid", "articles"
BY_LANGUAGE, BY_DATASET, BY_WEEK = "language", "dataset", "week"
PARTS = {BY_LANGUAGE: "language", BY_DATASET: "dataset", BY_WEEK: "week"}
"""Choices of the parts in which agreement is told apart -> labels."""
OVER_ARTICLES = (ALWAYS_VALID, ARTICLES)
"""The intervals that take articles as independent, each with all its summaries."""


class AgreementInterval(NamedTuple):
    label: str
    drawn: str
    """The way of drawing samples, or of leaving out articles, for the definition."""


INTERVALS: dict[str, AgreementInterval] = {
    ALWAYS_VALID: AgreementInterval(
        "holds at every look, over articles",
        "always-valid, so that it holds however often one looks while articles come in: articles left out in"
        " turn, each with all its summaries that have two ratings or more; quantile of the mixture of Wang &"
        " Ramdas (2024) with Satterthwaite's degrees of freedom, on Fisher's scale or, for shares, that of"
        " log-odds",
    ),
    ARTICLES: AgreementInterval(
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
    """Settings of agreement. Raises DomainError for an unknown name or a number out of range.

    `in_state` gives the interval in place of BY_STATE; only then are there intervals to compute.
    """

    scale: str = OWN_SCALE
    interval: str = BY_STATE
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("scale", self.scale, (OWN_SCALE, *SCALES))
        check_choice("interval", self.interval, (BY_STATE, NONE, *INTERVALS))
        refuse_resampling(self.resamples, self.seed)

    def in_state(self, *, is_live: bool) -> "AgreementMethod":
        """Return the method for a campaign that goes on, or for one whose ratings are final."""
        if self.interval != BY_STATE:
            return self
        return replace(self, interval=ALWAYS_VALID if is_live else ARTICLES)
