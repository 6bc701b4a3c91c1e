"""DeLong's interval for ROC AUC."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.result import NoIntervalError
from metaeval.stats.uncertainty.delong import delong_interval

LABELS = np.array([0.0, 0, 0, 1, 1, 1, 1])


def auc_and_variance(labels, scores):
    """Compute the AUC and its variance by comparing every yes with every no."""
    difference = np.subtract.outer(scores[labels == 1], scores[labels == 0])
    wins = (difference > 0) + (difference == 0) / 2
    return wins.mean(), sum(wins.mean(axis=axis).var(ddof=1) / wins.shape[1 - axis] for axis in (0, 1))


@given(st.lists(st.integers(0, 5).map(float), min_size=7, max_size=7))
def test_interval_equals_the_one_from_all_yes_no_pairs(scores):
    auc, variance = auc_and_variance(LABELS, np.array(scores))
    assume(variance > 1e-12)
    half = 1.959963984540054 * math.sqrt(variance)
    found = delong_interval(LABELS, np.array(scores))
    assert found == pytest.approx((max(0, auc - half), min(1, auc + half)), abs=1e-9)


@given(st.lists(st.integers(0, 5).map(float), min_size=7, max_size=7))
def test_monotonic_rescaling_does_not_matter(scores):
    values = np.array(scores)
    assume(auc_and_variance(LABELS, values)[1] > 1e-12)
    assert delong_interval(LABELS, np.exp(values)) == pytest.approx(
        delong_interval(LABELS, values), abs=1e-12
    )


def test_interval_contains_the_auc():
    scores = np.array([1.0, 4, 2, 3, 5, 6, 2])
    low, high = delong_interval(LABELS, scores)
    assert low < COEFFICIENTS["roc_auc"].of(LABELS, scores).value < high


@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [([0, 0, 1], [1, 2, 3], "two yeses and two noes"), ([0, 0, 1, 1], [1, 2, 3, 4], "variance of 0")],
)
def test_a_missing_interval_has_a_reason(labels, scores, message):
    with pytest.raises(NoIntervalError, match=message):
        delong_interval(np.array(labels, dtype=float), np.array(scores, dtype=float))
