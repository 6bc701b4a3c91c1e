"""Trait bias, compared with the residuals of two rank regressions."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import rankdata

from metaeval.stats.rows import Resampling
from metaeval.stats.scores.trait_bias import _partial, trait_bias
from tests.metaeval.stats.simple_rows import make_rows


def correlate_residuals(labels, scores, trait):
    """Return Pearson's r of the rank residuals of scores and trait, given the labels' ranks.

    nan where nothing is left of one of them.
    """
    z, x, t = (rankdata(each) for each in (labels, scores, trait))
    design = np.column_stack([np.ones(len(z)), z])
    left = [each - design @ np.linalg.lstsq(design, each, rcond=None)[0] for each in (x, t)]
    if any(np.allclose(each, 0, atol=1e-9) for each in left):
        return math.nan
    return np.corrcoef(*left)[0, 1]


@given(st.integers(0, 10_000), st.integers(12, 40), st.sampled_from([2, 5]), st.sampled_from([2, 25]))
@example(4922, 12, 2, 2)  # the trait repeats the labels
def test_bias_is_the_correlation_of_residuals(seed, n, label_values, trait_values):
    """This includes yes/no labels and binary traits."""
    rng = np.random.default_rng(seed)
    labels, trait = (rng.permutation(np.arange(n) % values) for values in (label_values, trait_values))
    scores = labels + 0.1 * trait + rng.normal(size=n)
    found = trait_bias(make_rows(labels, scores, np.arange(n)), trait, Resampling(3))
    assert found.value == pytest.approx(correlate_residuals(labels, scores, trait), nan_ok=True)


def test_a_length_evaluator_is_found_biased_and_a_fair_one_is_not():
    rng = np.random.default_rng(2)
    labels, trait = rng.integers(1, 6, 800).astype(float), rng.integers(10, 60, 800).astype(float)
    articles = np.arange(800) // 4
    caught = trait_bias(make_rows(labels, labels + 0.2 * trait, articles), trait, Resampling(200))
    assert caught.interval.low > 0.5
    fair = trait_bias(make_rows(labels, labels + rng.normal(size=800), articles), trait, Resampling(200))
    assert fair.interval.low < 0 < fair.interval.high
    assert fair.articles == 200


def test_a_trait_that_people_reward_too_is_no_bias():
    """Labels follow the trait, and scores follow only the labels."""
    rng = np.random.default_rng(3)
    trait = rng.normal(size=2000)
    labels = trait + rng.normal(size=2000)
    found = trait_bias(
        make_rows(labels, labels + rng.normal(size=2000), np.arange(2000)), trait, Resampling(3)
    )
    assert abs(found.value) < 0.06


def test_resamples_are_ranked_again():
    """A weight of 2 means two copies of a row."""
    rng = np.random.default_rng(5)
    columns = [rng.integers(4, size=20) for _ in range(3)]
    times = rng.integers(0, 3, size=20)
    rows = np.repeat(np.arange(20), times)
    value, _ = _partial(columns, times.astype(float))
    assert value == pytest.approx(correlate_residuals(*(column[rows] for column in columns)))


@pytest.mark.parametrize(
    ("labels", "scores", "trait", "reason"),
    [
        ([1, 1, 1], [1, 2, 3], [3, 1, 2], "all equal"),
        ([1, 2, 3], [1, 1, 1], [3, 1, 2], "all equal"),
        ([1, 2, 3], [10, 20, 30], [3, 1, 2], "exactly as scores do"),
        ([], [], [], "all equal"),
        ([np.nan, 1], [1, np.nan], [1, 1], "all equal"),
    ],
)
def test_constant_residuals_are_undefined_with_a_reason(labels, scores, trait, reason):
    found = trait_bias(make_rows(labels, scores, np.arange(len(labels))), trait)
    assert math.isnan(found.value)
    assert reason in found.reason
    assert found.interval is None


def test_incomplete_rows_are_counted_as_left_out():
    labels, scores = [1.0, 2, 3, 2, np.nan, 1], [1.0, 3, 2, np.nan, 1, 2]
    found = trait_bias(make_rows(labels, scores, np.arange(6)), [5.0, 1, 2, 3, 4, np.nan], Resampling(3))
    assert found.n == 3
    assert set(found.left_out.values()) == {1}
    assert "summaries without the property" in found.left_out
