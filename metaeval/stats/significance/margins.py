"""The tests of whether evaluators are as good as others, within a margin."""

from itertools import permutations

import numpy as np

from metaeval.stats.significance.compared import Compared, MarginTests, PairTester
from metaeval.stats.significance.paired_bootstrap import scale_of

NO_SPREAD = "the difference has no standard error: it is the same without any article"

NOT_WORSE = (
    "Margin {margin:g}. An evaluator is as good as another if it is not worse by the margin or more: the"
    " one-sided test, {by}, of its coefficient against the other's less the margin. Two are equivalent if"
    " each is as good as the other (two one-sided tests, Schuirmann 1987; p is the larger one)."
)
BY_BOOTSTRAP = "by the paired bootstrap over articles' standard error"
BY_ALWAYS_VALID = (
    "by the always-valid test's standard error and a likelihood ratio of differences above 0 only, so that it"
    " holds at every look"
)


def margin_tests(data: Compared, margin: float, tester: PairTester, by: str) -> MarginTests:
    """Test for every two evaluators, in both orders, whether the first is worse by `margin` or more.

    The p-value is that of t = (s(a) - s(b - margin)) / error, with a and b the two coefficients, s the scale
    of `scale_of`, and error and the distribution of t from the `spread` that `tester` finds.

    Undefined where a coefficient is, where `tester` finds none, and where the difference does not vary.

    Raises ValueError for a margin that is not above 0 and below 1.

    Source: D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power approach for
    assessing the equivalence of average bioavailability", Journal of Pharmacokinetics and Biopharmaceutics
    15, 1987.
    """
    if not 0 < margin < 1:
        raise ValueError(f"a margin lies above 0 and below 1, so it cannot be {margin:g}")
    scaled = scale_of(data)
    size = len(data.scored)
    p_values = np.full((size, size), np.nan)
    reasons: dict[tuple[int, int], str] = {}
    for first, second in permutations(range(size), 2):
        kept = data.common(first, second)
        one, other = (data.estimate(each, kept).value for each in (first, second))
        if np.isnan(one - other):
            continue
        tested = tester(min(first, second), max(first, second))
        if tested.spread is None:
            reasons[first, second] = tested.reason or NO_SPREAD
            continue
        t = float(scaled(one) - scaled(other - margin)) / tested.spread.error
        p_values[first, second] = tested.spread.p_above(t)
    return MarginTests(margin, p_values, reasons, NOT_WORSE.format(margin=margin, by=by))
