"""The test of two evaluators that holds at every look at a campaign that goes on."""

from functools import partial

import numpy as np

from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation.coefficients import Coefficient
from metaeval.stats.correlation.levels import Level
from metaeval.stats.result import NoIntervalError
from metaeval.stats.significance.compared import Compared, DifferenceSpread, PairTest, PairTester
from metaeval.stats.significance.paired_bootstrap import bootstrap_of, scale_of
from metaeval.stats.significance.replicates import ROUNDING, differences
from metaeval.stats.uncertainty.always_valid import always_valid_p, degrees_at_every_look
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES, TOO_FEW_ARTICLES
from metaeval.stats.uncertainty.intervals import NONE_OF_SYSTEMS
from metaeval.stats.uncertainty.jackknife_interval import jackknife_spread

DEFINITION = (
    "p holds however often one looks while articles come in: the chance that it is at most .05 at any look is"
    " 5% if the two do not differ. It is 1/E, with E the likelihood ratio of Wang & Ramdas (2024) of t, the"
    " difference over its jackknife standard error, with Satterthwaite's degrees of freedom: articles (each"
    " summary of unknown article being an article of its own) are left out in turn, in 500 groups if there"
    " are more. Correlations over all summaries are taken on Fisher's scale (artanh) first."
)


def why_not(level: Level, _coefficient: Coefficient) -> str:
    """Say why the test does not apply at a level; empty if it does."""
    return NONE_OF_SYSTEMS if level.name == "system" else ""


def tester(data: Compared) -> PairTester:
    """Return the test by `always_valid_p`, with the jackknife's standard error of the difference.

    Undefined with fewer than FEWEST_ARTICLES articles, and where `jackknife_spread` or
    `degrees_at_every_look` refuses it, as where the difference is the same without any article. If that is 0,
    p is 1.
    """
    scaled = scale_of(data)

    def without_each(evaluators: Ints, kept: Bools) -> Floats:
        drawn, rows = bootstrap_of(data, evaluators, kept)
        return scaled(drawn.jackknife[rows])

    of_pair = differences(data, without_each)

    def test(first: int, second: int) -> PairTest:
        articles = len(np.unique(data.rows.own_articles[data.used(first, second)]))
        if articles < FEWEST_ARTICLES:
            return PairTest(reason=TOO_FEW_ARTICLES)
        without = of_pair(first, second)
        if np.abs(without).max(initial=0) <= ROUNDING:
            return PairTest(1.0)
        kept = data.common(first, second)
        difference = scaled(data.estimate(first, kept).value) - scaled(data.estimate(second, kept).value)
        try:
            spread = jackknife_spread(float(difference), without, on_fishers_scale=False)
            degrees = degrees_at_every_look(spread)
        except NoIntervalError as why_not_yet:
            return PairTest(reason=str(why_not_yet))
        p_value = always_valid_p(spread.middle / spread.error, articles, degrees)
        p_above = partial(always_valid_p, articles=articles, degrees=degrees, one_sided=True)
        return PairTest(p_value, spread=DifferenceSpread(spread.error, p_above))

    return test
