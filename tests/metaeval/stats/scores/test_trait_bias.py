"""The partial correlation with a property, beside the residuals of two regressions of ranks."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from metaeval.stats.scores.trait_bias import _partial, trait_bias


def by_residuals(labels, scores, trait):
    """Pearson's r of what is left of two rank variables when the label's ranks have been regressed out."""
    z, x, t = (rankdata(each) for each in (labels, scores, trait))
    design = np.column_stack([np.ones(len(z)), z])
    left = [each - design @ np.linalg.lstsq(design, each, rcond=None)[0] for each in (x, t)]
    return np.corrcoef(*left)[0, 1]


@given(st.integers(0, 10_000), st.integers(12, 40), st.sampled_from([2, 5]), st.sampled_from([2, 25]))
@settings(max_examples=40, deadline=None)
def test_it_is_the_correlation_of_what_labels_leave_over(seed, n, label_values, trait_values):
    """Also of yes/no labels and of a property that a summary has or has not."""
    rng = np.random.default_rng(seed)
    labels, trait = (rng.permutation(np.arange(n) % values) for values in (label_values, trait_values))
    scores = labels + 0.1 * trait + rng.normal(size=n)
    found = trait_bias(labels, scores, trait, np.arange(n), resamples=3)
    assert found.value == pytest.approx(by_residuals(labels, scores, trait))


def test_an_evaluator_of_length_is_caught_and_one_of_labels_is_not():
    rng = np.random.default_rng(2)
    labels, trait = rng.integers(1, 6, 800).astype(float), rng.integers(10, 60, 800).astype(float)
    articles = np.arange(800) // 4
    caught = trait_bias(labels, labels + 0.2 * trait, trait, articles, resamples=200)
    assert caught.interval.low > 0.5
    fair = trait_bias(labels, labels + rng.normal(size=800), trait, articles, resamples=200)
    assert fair.interval.low < 0 < fair.interval.high
    assert fair.articles == 200


def test_a_property_that_people_reward_too_is_no_bias():
    """Scores and labels both follow length, and scores nothing but the labels."""
    rng = np.random.default_rng(3)
    trait = rng.normal(size=2000)
    labels = trait + rng.normal(size=2000)
    found = trait_bias(labels, labels + rng.normal(size=2000), trait, np.arange(2000), resamples=3)
    assert abs(found.value) < 0.06


def test_resamples_rank_anew():
    """Weights 2 are two copies: a resample is what the whole computation gives of the drawn rows."""
    rng = np.random.default_rng(5)
    columns = [rng.integers(4, size=20) for _ in range(3)]
    times = rng.integers(0, 3, size=20)
    rows = np.repeat(np.arange(20), times)
    value, _ = _partial(columns, times.astype(float))
    assert value == pytest.approx(by_residuals(*(column[rows] for column in columns)))


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
def test_what_leaves_nothing_over_is_undefined(labels, scores, trait, reason):
    found = trait_bias(labels, scores, trait, np.arange(len(labels)))
    assert math.isnan(found.value)
    assert reason in found.reason
    assert found.interval is None


def test_what_lacks_something_is_left_out_and_counted():
    labels, scores = [1.0, 2, 3, 2, np.nan, 1], [1.0, 3, 2, np.nan, 1, 2]
    found = trait_bias(labels, scores, [5.0, 1, 2, 3, 4, np.nan], np.arange(6), resamples=3)
    assert found.n == 3
    assert set(found.left_out.values()) == {1}
    assert "summaries without the property" in found.left_out
