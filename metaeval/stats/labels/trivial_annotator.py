"""Answers that know nothing of a summary, put through the alternative annotator test."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.labels.alternative_annotator import (
    TIED,
    AlternativeAnnotator,
    alternative_annotator,
)
from metaeval.stats.labels.label_mean import NO_SPREAD, MeanEstimate, label_mean

CANDIDATES = 21
DEFINITION = (
    "The same test is applied to two trivial annotators. One is the constant answer that is hardest to beat,"
    f" of {CANDIDATES} quantiles of the raters' answers: one that passes, or else the one over which the"
    " evaluator leads least. The other is the evaluator's scores shuffled over the summaries. The evaluator's"
    " lead is the share of summaries on which its answer is closer to all raters, less the share on which the"
    " trivial annotator's is (mean over the shuffles), with a 95% t-interval clustered by article."
)


@dataclass(frozen=True)
class AnnotatorRatings:
    """The ratings of an alternative annotator test; arrays are (ratings,) unless stated otherwise."""

    summaries: Ints
    """Codes from 0."""
    raters: Ints
    """Codes from 0."""
    answers: Floats
    """The number that each answer stands for; never nan."""
    articles: Ints
    """(summaries,) codes; negative = not known."""
    alignment: str
    """The same as in `alternative_annotator`."""

    def test(self, evaluator: Floats, epsilon: float) -> AlternativeAnnotator:
        """Return the test of the answers `evaluator`, (summaries,), with nan for none."""
        return alternative_annotator(
            self.summaries, self.raters, self.answers, evaluator, self.alignment, epsilon=epsilon
        )


@dataclass(frozen=True)
class TrivialAnnotator:
    """The results of trivial answers in the test, and the evaluator's lead over them."""

    winning_rate: float
    """Mean over the draws, as the other figures; nan if the test cannot be applied."""
    advantage: float
    passing: float
    """Share of draws that pass."""
    lead: MeanEstimate
    """The evaluator's lead, from -1 to 1."""

    @property
    def passes(self) -> bool:
        """Return whether half of the draws pass, or more."""
        return self.passing >= 0.5

    @property
    def is_beaten(self) -> bool:
        """Return whether the interval of the evaluator's lead lies above 0, or it leads on every summary."""
        if self.lead.interval.reason == NO_SPREAD:
            return self.lead.value > 0
        return self.lead.interval.low > 0


def trivial_annotator(
    ratings: AnnotatorRatings, evaluator: Floats, draws: Sequence[Floats], epsilon: float
) -> TrivialAnnotator:
    """Return the mean of the tests of trivial answers, and the evaluator's lead over them.

    Parameters
    ----------
    evaluator : (summaries,) answers on the raters' scale; nan for none.
    draws : one or more arrays like `evaluator`; answers are ignored where the evaluator gives none.
    epsilon : as in `alternative_annotator`.

    Raises ValueError as `alternative_annotator` does.
    """
    given = [np.where(np.isnan(evaluator), np.nan, draw) for draw in draws]
    tests = [ratings.test(draw, epsilon) for draw in given]
    leads = np.mean([_leads(ratings, evaluator, draw) for draw in given], axis=0)
    return TrivialAnnotator(
        winning_rate=float(np.mean([each.winning_rate for each in tests])),
        advantage=float(np.mean([each.advantage for each in tests])),
        passing=float(np.mean([each.passes for each in tests])),
        lead=label_mean(leads, ratings.articles),
    )


def best_constant(ratings: AnnotatorRatings, evaluator: Floats, epsilon: float) -> float:
    """Return the constant answer that is hardest to beat.

    One that passes comes before one that does not; of equal ones, that over which the evaluator leads least,
    and then that with most advantage. Tried are 21 quantiles of the
    raters' answers, which on a scale of a few points are all frequent answers. nan if the test cannot be
    applied. Arguments as in `trivial_annotator`.
    """
    if not len(ratings.answers) or ratings.test(evaluator, epsilon).reason:
        return np.nan

    def hardness(constant: float) -> tuple[bool, float, float]:
        draw = np.where(np.isnan(evaluator), np.nan, constant)
        test = ratings.test(draw, epsilon)
        return test.passes, -float(np.nanmean(_leads(ratings, evaluator, draw))), test.advantage

    quantiles = np.quantile(ratings.answers, np.linspace(0, 1, CANDIDATES), method="nearest")
    return float(max(np.unique(quantiles).tolist(), key=hardness))


def _alignment(ratings: AnnotatorRatings, given: Floats) -> Floats:
    """Return how well the answers `given` are aligned with all raters of each summary, (summaries,).

    nan for summaries without a rating or an answer. The unit of distances is the range of the answers.
    """
    n = len(given)
    times = np.bincount(ratings.summaries, minlength=n)
    of_summary = given[ratings.summaries]
    if ratings.alignment == "accuracy":
        each = (of_summary == ratings.answers).astype(np.float64)
    else:
        spread = float(np.ptp(ratings.answers)) if len(ratings.answers) else 0.0
        each = -(((of_summary - ratings.answers) / (spread or 1.0)) ** 2)
    total = np.bincount(ratings.summaries, weights=each, minlength=n)
    aligned = np.divide(total, times, out=np.full(n, np.nan), where=times > 0)
    return np.where(np.isnan(given), np.nan, aligned)


def _leads(ratings: AnnotatorRatings, evaluator: Floats, draw: Floats) -> Floats:
    """Return 1 where the evaluator is closer to all raters, -1 where the draw is, else 0, (summaries,)."""
    difference = _alignment(ratings, evaluator) - _alignment(ratings, draw)
    return np.where(np.abs(difference) <= TIED, 0.0, np.sign(difference))
