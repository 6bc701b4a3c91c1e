"""The symmetric interval of a bootstrap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.result import NoIntervalError
from metaeval.stats.uncertainty.symmetric_interval import symmetric_interval


@given(
    st.lists(st.floats(-0.9, 0.9), min_size=5, max_size=40).filter(lambda each: np.ptp(each) > 1e-6),
    st.floats(-0.9, 0.9),
)
def test_it_is_as_far_above_the_value_as_below_unless_cut_off(replicates, value):
    low, high = symmetric_interval(value, np.array(replicates))
    assert -1 <= low <= value <= high <= 1
    if low > -1 and high < 1:
        assert high - value == pytest.approx(value - low)
    held = sum(low - 1e-9 <= each <= high + 1e-9 for each in replicates)
    assert held >= 0.95 * (len(replicates) - 1)


def test_shares_end_at_0():
    assert symmetric_interval(0.1, np.array([0.0, 0.5, 0.4]), least=0.0)[0] == 0.0


def test_undefined_resamples_are_refused_as_for_other_intervals():
    with pytest.raises(NoIntervalError, match="undefined in 2 of 10 resamples"):
        symmetric_interval(0.1, np.r_[np.linspace(0, 1, 8), np.nan, np.nan])
