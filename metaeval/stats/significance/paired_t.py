"""The paired t-test on two evaluators' coefficients of each article."""

import numpy as np
import scipy.stats

from metaeval.stats.arrays import Bools, Floats
from metaeval.stats.groups import Groups
from metaeval.stats.significance.compared import Compared, PairTest, PairTester
from metaeval.stats.significance.replicates import ROUNDING

DEFINITION = (
    "t = mean(d) / (sd(d) / √m) on m − 1 degrees of freedom, two-sided, with d the differences of the two"
    " evaluators' coefficients of each of the m articles where both are defined; the interval is that of"
    " mean(d). It takes the articles' differences as independent and, if articles are few, as normal."
)


def tester(data: Compared) -> PairTester:
    """The paired t-test over articles (as in Gao et al. 2023, "UMSE: Unified Multi-scenario Summarization
    Evaluation"); for the mean over articles only.

    Differences that are all 0 give p = 1; all equal to another number leave nothing to compare with. Equal
    are differences no further apart than rounding can put them.
    """

    def test(first: int, second: int) -> PairTest:
        if data.level.name != "article":
            return PairTest(
                reason="the paired t-test compares articles' coefficients: it is for 'mean over articles'"
            )
        kept = data.common(first, second) & (data.articles >= 0)
        d = _by_article(data, first, kept) - _by_article(data, second, kept)
        d = d[~np.isnan(d)]
        if len(d) < 2:
            return PairTest(reason="fewer than two articles in which both coefficients are defined")
        mean, error = float(d.mean()), float(d.std(ddof=1) / np.sqrt(len(d)))
        if np.ptp(d) <= ROUNDING:
            return (
                PairTest(1.0, 0.0, 0.0)
                if abs(mean) <= ROUNDING
                else PairTest(reason="all articles' differences are equal")
            )
        half = float(scipy.stats.t.ppf(0.975, len(d) - 1)) * error
        p_value = 2 * float(scipy.stats.t.sf(abs(mean) / error, len(d) - 1))
        return PairTest(p_value, mean - half, mean + half)

    return test


def _by_article(data: Compared, evaluator: int, kept: Bools) -> Floats:
    """(articles,) the evaluator's coefficient within each article; nan where undefined."""
    rows = np.flatnonzero(kept)
    rows = rows[np.argsort(data.articles[rows], kind="stable")]
    sizes = np.unique(data.articles[rows], return_counts=True)[1]
    return data.coefficient.of_groups(data.labels[rows], data.scores[evaluator, rows], Groups(sizes)).values
