"""The paired t-test on two evaluators' coefficients within articles."""

import numpy as np
from scipy.special import stdtr

from metaeval.stats.arrays import Bools, Floats
from metaeval.stats.correlation.coefficients import Coefficient
from metaeval.stats.correlation.levels import Level
from metaeval.stats.groups import Groups
from metaeval.stats.significance.compared import Compared, PairTest, PairTester
from metaeval.stats.significance.replicates import ROUNDING

DEFINITION = (
    "t = mean(d) / (sd(d) / √m) on m − 1 degrees of freedom, two-sided, with d the differences of the two"
    " evaluators' coefficients of each of the m articles where both are defined. It takes the articles'"
    " differences as independent and, if articles are few, as normal."
)


def why_not(level: Level, _coefficient: Coefficient) -> str:
    """Say why the test does not apply at a level; empty if it does."""
    if level.name == "article":
        return ""
    return "the paired t-test compares articles' coefficients: it is for 'mean over articles'"


def tester(data: Compared) -> PairTester:
    """Return the paired t-test over articles, for the mean over articles only.

    Differences that are all 0 give p = 1. If all equal another number, up to rounding, the test is undefined.

    Source: as in S. Gao et al., "UMSE: Unified Multi-scenario Summarization Evaluation", Findings of ACL
    2023.
    """

    def test(first: int, second: int) -> PairTest:
        kept = data.common(first, second) & (data.rows.articles >= 0)
        d = _by_article(data, first, kept) - _by_article(data, second, kept)
        d = d[~np.isnan(d)]
        if len(d) < 2:
            return PairTest(reason="fewer than two articles in which both coefficients are defined")
        mean, error = float(d.mean()), float(d.std(ddof=1) / np.sqrt(len(d)))
        if np.ptp(d) > ROUNDING:
            return PairTest(2 * float(stdtr(len(d) - 1, -abs(mean) / error)))
        if abs(mean) <= ROUNDING:
            return PairTest(1.0)
        return PairTest(reason="all articles' differences are equal")

    return test


def _by_article(data: Compared, evaluator: int, kept: Bools) -> Floats:
    """Return the evaluator's coefficient within each article, (articles,); nan if undefined."""
    rows = np.flatnonzero(kept)
    rows = rows[np.argsort(data.rows.articles[rows], kind="stable")]
    sizes = np.unique(data.rows.articles[rows], return_counts=True)[1]
    return data.coefficient.of_groups(
        data.rows.labels[rows], data.rows.scores[evaluator, rows], Groups(sizes)
    ).values
