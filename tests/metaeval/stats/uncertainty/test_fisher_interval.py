"""Fisher's interval, with Bonett and Wright's variances."""

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.result import NoIntervalError
from metaeval.stats.uncertainty.fisher_interval import fisher_interval

RANK_TOO = ["pearson", "spearman", "kendall_b"]


def test_interval_of_pearson_matches_scipy():
    labels, scores = [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 7, 5]
    result = scipy.stats.pearsonr(labels, scores)
    expected = result.confidence_interval(0.95)
    assert fisher_interval("pearson", result.statistic, 6) == pytest.approx(tuple(expected), abs=1e-9)


# atanh 0.6 = 0.693147; ends at ± 1.959964 √(1.18 / 17) = 0.516374 and 1.959964 √(0.437 / 16) = 0.323913.
@pytest.mark.parametrize(
    ("name", "expected"), [("spearman", (0.174954, 0.836536)), ("kendall_b", (0.353321, 0.768667))]
)
def test_rank_correlations_have_their_own_variances(name, expected):
    assert fisher_interval(name, 0.6, 20) == pytest.approx(expected, abs=1e-6)


@given(st.floats(-0.99, 0.99), st.integers(5, 1000))
@pytest.mark.parametrize("name", RANK_TOO)
def test_interval_contains_the_value_within_minus_1_and_1(name, value, n):
    low, high = fisher_interval(name, value, n)
    assert -1 <= low < value < high <= 1
    assert fisher_interval(name, -value, n) == pytest.approx((-high, -low), abs=1e-12)


def test_more_pairs_narrow_the_interval(subtests):
    for name in RANK_TOO:
        with subtests.test(name=name):
            widths = [high - low for low, high in (fisher_interval(name, 0.3, n) for n in (10, 20, 40))]
            assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize(
    ("name", "value", "n", "message"),
    [
        ("kendall_c", 0.5, 20, "no formula"),
        ("pearson", 0.5, 3, "more than 3 pairs, and there are 3"),
        ("kendall_b", 0.5, 4, "more than 4 pairs, and there are 4"),
        ("spearman", -1.0, 20, "around -1 or 1"),
    ],
)
def test_a_missing_interval_has_a_reason(name, value, n, message):
    with pytest.raises(NoIntervalError, match=message):
        fisher_interval(name, value, n)
