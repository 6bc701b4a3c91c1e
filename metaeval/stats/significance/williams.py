"""Williams' test for the difference of two correlations with the same labels."""

from dataclasses import replace

import numpy as np
from scipy.special import stdtr

from metaeval.stats.correlation.coefficients import Coefficient
from metaeval.stats.correlation.levels import Level
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


def williams(r12: float, r13: float, r23: float, n: int) -> PairTest:
    """Test whether correlations r12 and r13, which share variable 1, differ, over n rows.

    t has n − 3 degrees of freedom. Two equal correlations give t = 0, also where variables 2 and 3 are
    identical. Undefined for n <= 3 and where the formula's denominator is not positive.

    Source: E. J. Williams, "Regression Analysis", 1959; Y. Graham & T. Baldwin, "Testing for Significance of
    Increased Correlation with Human Judgment", EMNLP 2014, with the sign of the correlations kept.

    >>> round(williams(0.5, 0.3, 0.8, 30).p_value, 6)
    0.064007
    """
    if n <= 3:
        return PairTest(reason=f"Williams' test: it needs more than 3 rows, and there are {n}")
    if abs(r12 - r13) <= ROUNDING:
        return PairTest(1.0)
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    spread = 2 * determinant * (n - 1) / (n - 3) + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    if spread <= ROUNDING:
        return PairTest(
            reason="Williams' test: one evaluator's scores follow from the other's and the labels"
        )
    t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23) / spread)
    return PairTest(2 * float(stdtr(n - 3, -abs(t))))


def why_not(level: Level, coefficient: Coefficient) -> str:
    """Say why the test does not apply at a level or to a coefficient; empty if it does."""
    if coefficient.name not in CORRELATIONS:
        return f"Williams' test is for correlations, and {coefficient.label} is none"
    if level.group:
        return (
            "Williams' test compares two correlations; a mean of several is not one: it is for"
            " 'pooled over summaries' and 'over systems' means'"
        )
    return ""


def tester(data: Compared) -> PairTester:
    """Return Williams' test, for the pooled and the system level, which have one correlation each.

    Source: E. J. Williams, "Regression Analysis", 1959; Y. Graham & T. Baldwin, "Testing for Significance of
    Increased Correlation with Human Judgment", EMNLP 2014.
    """

    def test(first: int, second: int) -> PairTest:
        kept = data.common(first, second)
        first_scores, second_scores = data.rows.scores[[first, second]]
        one_as_label = replace(data.rows, labels=first_scores, scores=second_scores, yes_no=False)
        between = data.level.estimate(data.coefficient, one_as_label.at(kept))
        own, other = data.estimate(first, kept), data.estimate(second, kept)
        systems_used = len(np.unique(data.rows.systems[kept & (data.rows.systems >= 0)]))
        n = own.n if data.level.name == "pooled" else systems_used
        return williams(own.value, other.value, between.value, n)

    return test
