"""The paired bootstrap over articles."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation.constant_scores import LEFT_OUT, ZERO
from metaeval.stats.significance.compared import Compared, DifferenceSpread, PairTest, PairTester
from metaeval.stats.significance.replicates import ROUNDING, differences
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES, TOO_FEW_ARTICLES
from metaeval.stats.uncertainty.bootstrap import Bootstrap
from metaeval.stats.uncertainty.intervals import CORRELATIONS
from metaeval.stats.uncertainty.percentile_interval import MOST_UNDEFINED

DEFINITION = (
    "{resamples} resamples (seed {seed}) of the articles with replacement, the same for both evaluators, each"
    " summary of unknown article being an article of its own;"
    " p from Student's t, with one degree of freedom fewer than the m articles, of the difference over the"
    " standard deviation of the resamples' differences, times √((m − 1) / m). Correlations over all"
    " summaries are taken on Fisher's scale (artanh) first."
)

MOST_CORRELATED = 1 - ROUNDING
"""Correlations nearer to 1 or -1 count as this one, since 1 is infinite on Fisher's scale."""


def tester(data: Compared) -> PairTester:
    """Return the paired bootstrap over articles.

    Source: P. Koehn, "Statistical Significance Tests for Machine Translation Evaluation", EMNLP 2004, for the
    paired draws; B. Efron & R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 6, for the
    standard error, which for the mean of m numbers is √((m − 1) / m) of what it should be. The p-value is not
    counted from the resamples: the least that could come of n of them, 2 / (n + 1), is above .05 after the
    correction for many pairs. On Fisher's scale (R. A. Fisher, Metron 1, 1921) the spread of a correlation
    depends less on its value, and less on a few articles that are easier than the rest.

    Undefined with fewer than FEWEST_ARTICLES articles, or two resamples in which the difference is defined,
    where it is undefined in as many resamples as leave an interval undefined, and where a difference is the
    same in all of them. Where there is none in any of them p is 1.
    """
    scaled = scale_of(data)

    def replicates(evaluators: Ints, kept: Bools) -> Floats:
        drawn, rows = bootstrap_of(data, evaluators, kept)
        return scaled(drawn.replicates[rows])

    of_pair = differences(data, replicates)

    def test(first: int, second: int) -> PairTest:
        articles = len(np.unique(data.rows.own_articles[data.used(first, second)]))
        if articles < FEWEST_ARTICLES:
            return PairTest(reason=TOO_FEW_ARTICLES)
        found = of_pair(first, second)
        if len(found) < 2:
            return PairTest(reason="fewer than two resamples in which the difference is defined")
        resamples = data.resampling.resamples
        undefined = resamples - len(found)
        if undefined > MOST_UNDEFINED * resamples:
            return PairTest(reason=f"undefined in {undefined:,} of {resamples:,} resamples")
        if np.ptp(found) > ROUNDING:
            kept = data.common(first, second)
            difference = scaled(data.estimate(first, kept).value) - scaled(data.estimate(second, kept).value)
            error = float(found.std(ddof=1) / np.sqrt((articles - 1) / articles))
            spread = DifferenceSpread(error, lambda t: float(stdtr(articles - 1, -t)))
            return PairTest(2 * spread.p_above(abs(float(difference)) / error), spread=spread)
        if abs(found[0]) <= ROUNDING:
            return PairTest(1.0)
        return PairTest(reason="the same difference in every resample")

    return test


def scale_of(data: Compared) -> Callable[[npt.ArrayLike], Floats]:
    """Return a function to the scale of differences: Fisher's for correlations over all summaries."""
    is_fishers = data.level.name == "pooled" and data.coefficient.name in CORRELATIONS

    def scaled(values: npt.ArrayLike) -> Floats:
        found = np.asarray(values, dtype=np.float64)
        return np.arctanh(np.clip(found, -MOST_CORRELATED, MOST_CORRELATED)) if is_fishers else found

    return scaled


def bootstrap_of(data: Compared, evaluators: Ints, kept: Bools) -> tuple[Bootstrap, Ints]:
    """Return a bootstrap over the articles of the summaries `kept`, and the evaluators' places in it."""
    drawn = data.bootstrap
    if drawn is not None and drawn.labelled_count == kept.sum() and not data.is_turned:
        return drawn, evaluators
    rows = data.rows.with_scores(data.rows.scores[evaluators]).at(kept)
    level, coefficient = data.level.name, data.coefficient.name
    constant = ZERO if data.coefficient.is_zero_if_constant else LEFT_OUT
    drawn = Bootstrap("articles", level, coefficient, rows, data.resampling, constant=constant)
    return drawn, np.arange(len(evaluators))
