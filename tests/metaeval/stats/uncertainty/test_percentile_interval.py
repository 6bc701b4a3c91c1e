"""The percentile interval, and the reasons for a missing one."""

import numpy as np
import pytest

from metaeval.stats.result import NoIntervalError
from metaeval.stats.uncertainty.percentile_interval import percentile_interval, undefined_told


def test_the_ends_leave_out_2_5_percent_on_each_side():
    assert percentile_interval(np.arange(1001.0)) == pytest.approx((25, 975))


def test_a_few_undefined_replicates_are_left_out():
    replicates = np.r_[np.arange(1001.0), np.full(50, np.nan)]
    assert percentile_interval(replicates) == pytest.approx((25, 975))


def test_the_number_of_undefined_resamples_is_reported():
    assert undefined_told(np.array([1.0, np.nan, 2])) == (
        "In 1 of 3 resamples it is undefined; these are left out."
    )
    assert undefined_told(np.array([1.0, 2])) == ""


@pytest.mark.parametrize(
    ("replicates", "message"),
    [
        ([1, 2, np.nan], "undefined in 1 of 3 resamples"),
        ([np.nan, np.nan], "undefined in 2 of 2"),
        ([], "undefined in 0 of 0"),
        ([0.5, 0.5, 0.5], "every resample gives the same value"),
        ([1, np.nextafter(1, 0), 1], "every resample gives the same value"),
    ],
)
def test_a_missing_interval_has_a_reason(replicates, message):
    with pytest.raises(NoIntervalError, match=message):
        percentile_interval(np.array(replicates, dtype=float))
