"""Intervals from values without each article."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.result import NoIntervalError
from metaeval.stats.uncertainty.jackknife_interval import always_valid_interval


@given(
    st.lists(st.tuples(st.floats(-0.5, 0.5), st.integers(1, 9)), min_size=2, max_size=12),
    st.booleans(),
)
def test_a_value_that_counts_several_times_equals_its_repetition(values, is_correlation):
    without, times = (np.array(each, dtype=np.float64) for each in zip(*values, strict=True))
    repeated = np.repeat(without, times.astype(int))
    articles = len(repeated)

    def ends(of, **weights):
        try:
            return always_valid_interval(0.2, of, articles, is_correlation=is_correlation, **weights)
        except NoIntervalError as why_not:
            return str(why_not)

    weighted, expected = ends(without, times=times), ends(repeated)
    assert weighted == (expected if isinstance(expected, str) else pytest.approx(expected, abs=1e-9))


def test_undefined_values_count_for_nothing():
    without, times = np.array([0.1, np.nan, 0.3, 0.2]), np.array([4.0, 50, 6, 5])
    ends = always_valid_interval(0.2, without, 15, is_correlation=False, times=times)
    there = ~np.isnan(without)
    assert ends == always_valid_interval(0.2, without[there], 15, is_correlation=False, times=times[there])


def test_values_equal_up_to_rounding_have_no_interval():
    without = np.array([0.1 + 0.2, 0.3])
    with pytest.raises(NoIntervalError, match="the same without any article"):
        always_valid_interval(0.3, without, 20, is_correlation=False, times=np.array([7.0, 13.0]))
