"""Bins of neighbouring values for calibration."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.scores.calibration_bins import CalibrationBin, bins_of, calibration_bins


@given(st.lists(st.integers(0, 12), min_size=1, max_size=60), st.integers(1, 10))
def test_bins_ascend_without_gaps_and_keep_equal_values_together(values, most):
    given_values = np.array(values, dtype=float)
    bins = bins_of(given_values, most)
    assert set(bins.tolist()) == set(range(bins.max() + 1))
    assert bins.max() < most
    order = np.argsort(given_values, kind="stable")
    assert (np.diff(bins[order]) >= 0).all()
    assert all(len(set(bins[given_values == value].tolist())) == 1 for value in set(values))


def test_distinct_values_are_distributed_evenly():
    assert np.bincount(bins_of(np.arange(100.0), 10)).tolist() == [10] * 10


def test_a_bin_holds_its_score_range_and_both_means():
    scores, labels = np.array([4.0, 1.0, 2.0, 3.0]), np.array([1.0, 0.0, 0.5, 0.5])
    assert calibration_bins(labels, scores, 2) == [
        CalibrationBin(lowest=1, highest=2, score=1.5, label=0.25, n=2),
        CalibrationBin(lowest=3, highest=4, score=3.5, label=0.75, n=2),
    ]
    assert calibration_bins(np.array([]), np.array([])) == []
