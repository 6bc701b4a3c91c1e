"""Williams' test for the difference of two correlations with the same labels."""

from typing import NamedTuple

import numpy as np
import scipy.stats

from metaeval.stats.significance.compared import Compared, PairTest, PairTester

DEFINITION = (
    "t = (r12 − r13) · √((n − 1)(1 + r23) / (2K(n − 1)/(n − 3) + ((r12 + r13)/2)² (1 − r23)³)), with"
    " K = 1 − r12² − r13² − r23² + 2 r12 r13 r23, on n − 3 degrees of freedom, two-sided; 1 is the labels, 2"
    " and 3 are the two evaluators' scores, and n is the summaries (pooled) or the systems (over systems'"
    " means). Correlations keep their sign; nlpstats and sacrerouge take absolute values first."
)

CORRELATIONS = ("pearson", "spearman", "kendall_b", "kendall_c")
# A difference of two correlations below this is rounding.
ROUNDING = 1e-12


class Williams(NamedTuple):
    t: float
    p_two_sided: float
    p_greater: float
    """Against the alternative that the first correlation is the greater."""
    p_less: float
    reason: str = ""
    """Why the others are nan, else empty."""


def williams(r12: float, r13: float, r23: float, n: int) -> Williams:
    """Whether correlations r12 and r13, which share variable 1, differ, over n rows.

    Returns t with its p-values on n − 3 degrees of freedom. Two equal correlations give t = 0, also where
    variables 2 and 3 are one and the same. All are nan, with the reason, for n <= 3 and where the formula's
    denominator is not positive.

    Source: E. J. Williams, "Regression Analysis", 1959; Y. Graham & T. Baldwin, "Testing for Significance of
    Increased Correlation with Human Judgment", EMNLP 2014, with the sign of the correlations kept.

    >>> round(williams(0.5, 0.3, 0.8, 30).p_two_sided, 6)
    0.064007
    """
    if n <= 3:
        return _undefined(f"it needs more than 3 rows, and there are {n}")
    if abs(r12 - r13) <= ROUNDING:
        return Williams(0.0, 1.0, 0.5, 0.5)
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    spread = 2 * determinant * (n - 1) / (n - 3) + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    if spread <= ROUNDING:
        return _undefined("one evaluator's scores follow from the other's and the labels")
    t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23) / spread)
    greater, less = (float(scipy.stats.t.sf(side, n - 3)) for side in (t, -t))
    return Williams(float(t), 2 * min(greater, less), greater, less)


def _undefined(reason: str) -> Williams:
    return Williams(np.nan, np.nan, np.nan, np.nan, reason)


def tester(data: Compared) -> PairTester:
    """Williams' test where one coefficient is one correlation: pooled and over systems' means."""

    def test(first: int, second: int) -> PairTest:
        if data.coefficient.name not in CORRELATIONS:
            return PairTest(
                reason=f"Williams' test is for correlations, and {data.coefficient.label} is none"
            )
        if data.level.name not in ("pooled", "system"):
            return PairTest(
                reason="Williams' test compares two correlations; a mean of several is not one: it is for"
                " 'pooled over summaries' and 'over systems' means'"
            )
        kept = data.common(first, second)
        between = data.level.estimate(
            data.coefficient,
            data.scores[first, kept],
            data.scores[second, kept],
            data.articles[kept],
            data.systems[kept],
        )
        own, other = data.estimate(first, kept), data.estimate(second, kept)
        systems_used = len(np.unique(data.systems[kept & (data.systems >= 0)]))
        n = own.n if data.level.name == "pooled" else systems_used
        found = williams(own.value, other.value, between.value, n)
        return PairTest(found.p_two_sided, reason=found.reason and f"Williams' test: {found.reason}")

    return test
