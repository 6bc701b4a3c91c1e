"""The BCa interval."""

import numpy as np
import pytest

from metaeval.stats.result import NoIntervalError
from metaeval.stats.uncertainty.bca_interval import bca_interval
from metaeval.stats.uncertainty.percentile_interval import percentile_interval

REPLICATES = np.arange(1001.0)
EVEN = np.array([-1.0, 0, 1])


def test_no_bias_and_no_skew_give_the_percentile_interval():
    assert bca_interval(500, REPLICATES, EVEN) == pytest.approx(percentile_interval(REPLICATES), abs=1e-6)


# By hand: 300.5 of 1001 below gives z0 = -0.5238; the shares below 2 z0 -/+ 1.96 are 0.132% and 81.92%.
def test_bias_moves_both_ends():
    low, high = bca_interval(300, REPLICATES, EVEN)
    assert (low, high) == pytest.approx((1.32, 819.2), abs=0.05)


def test_upward_skew_moves_both_ends_up():
    low, high = percentile_interval(REPLICATES)
    skewed_low, skewed_high = bca_interval(500, REPLICATES, np.array([0.0, 0, 0, 0, -4]))
    assert skewed_low > low
    assert skewed_high > high


def test_undefined_values_are_left_out():
    found = bca_interval(500, np.r_[REPLICATES, np.nan], np.r_[EVEN, np.nan])
    assert found == bca_interval(500, REPLICATES, EVEN)


def test_jackknife_values_can_be_weighted():
    jackknife, times = np.array([0.0, -1, 3]), np.array([2, 3, 1])
    assert bca_interval(400, REPLICATES, jackknife, times) == pytest.approx(
        bca_interval(400, REPLICATES, np.repeat(jackknife, times)), abs=1e-9
    )


def test_a_missing_interval_has_a_reason():
    for outside in (-1, 2000):
        with pytest.raises(NoIntervalError, match="one side"):
            bca_interval(outside, REPLICATES, EVEN)
    with pytest.raises(NoIntervalError, match="the same value"):
        bca_interval(1, np.ones(100), EVEN)
    with pytest.raises(NoIntervalError, match="without any one"):
        bca_interval(500, REPLICATES, np.full(2, np.nan))
