"""Systems that an evaluator favours, compared with the definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.scores.system_bias import TOO_FEW_OF_A_SYSTEM, system_bias
from metaeval.stats.uncertainty.percentile_interval import NO_SPREAD


def compute_by_hand(labels, scores, systems):
    """Return the mean residual of each system, with one bin per label value."""
    spread = np.std(scores)
    return {
        system: np.mean(
            [
                (score - np.mean(scores[labels == label])) / spread
                for label, score, of in zip(labels, scores, systems, strict=True)
                if of == system
            ]
        )
        for system in sorted(set(systems.tolist()))
    }


@given(st.integers(0, 10_000))
def test_bias_is_the_mean_distance_from_the_mean_score_of_the_label(seed):
    rng = np.random.default_rng(seed)
    labels, systems = rng.integers(0, 2, 60), rng.integers(0, 4, 60)
    scores = rng.normal(size=60)
    found = system_bias(Rows(labels, scores, np.arange(60), systems), Resampling(5))
    expected = compute_by_hand(labels, scores, systems)
    assert {row.system: pytest.approx(row.value) for row in found.systems} == expected
    assert sum(row.n * row.value for row in found.systems) == pytest.approx(0, abs=1e-9)


def test_a_favoured_system_is_marked_and_others_are_below_0():
    rng = np.random.default_rng(1)
    articles, systems = np.divmod(np.arange(600), 6)
    labels = rng.integers(1, 6, 600).astype(float)
    scores = labels + rng.normal(size=600) + 2.0 * (systems == 4)
    rows = system_bias(Rows(labels, scores, articles, systems), Resampling(300)).systems
    favoured = rows[4]
    assert favoured.is_marked
    assert favoured.interval.low > 0.5
    assert all(row.value < 0 for row in rows if row.system != 4)


def test_unbiased_evaluators_rarely_have_a_marked_system():
    """Intervals hold jointly for all systems: only 5% of unbiased tables should have any mark."""
    marked = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        articles, systems = np.divmod(np.arange(1000), 20)
        labels = rng.integers(0, 2, 1000).astype(float)
        scores = labels + rng.normal(size=1000)
        found = system_bias(Rows(labels, scores, articles, systems), Resampling(200, seed))
        marked += any(row.is_marked for row in found.systems)
    assert marked <= 7


def test_rescaled_scores_give_the_same_biases():
    rng = np.random.default_rng(2)
    articles, systems = np.divmod(np.arange(100), 5)
    labels, scores = rng.integers(0, 2, 100), rng.normal(size=100)
    first = system_bias(Rows(labels, scores, articles, systems), Resampling(50))
    second = system_bias(Rows(labels, 100 * scores + 7, articles, systems), Resampling(50))
    assert [row.value for row in first.systems] == pytest.approx([row.value for row in second.systems])
    assert [row.interval.low for row in first.systems] == pytest.approx(
        [row.interval.low for row in second.systems]
    )


def test_a_single_system_and_equal_scores_have_no_bias():
    one = system_bias(Rows([0, 1], [1, 2], [0, 1], [3, 3]))
    assert (one.systems, one.reason) == ((), "fewer than two systems")
    assert system_bias(Rows([0, 1], [1, 1], [0, 1], [3, 4])).reason == "all scores equal"


def test_a_large_offset_of_scores_gives_the_same_biases():
    rng = np.random.default_rng(3)
    articles, systems = np.divmod(np.arange(100), 5)
    labels, scores = rng.integers(1, 6, 100), rng.integers(0, 9, 100).astype(float)
    near, far = (
        system_bias(Rows(labels, scores + offset, articles, systems), Resampling(20))
        for offset in (0, 2.0**30)
    )
    assert [row.value for row in far.systems] == pytest.approx([row.value for row in near.systems], abs=1e-9)


def test_systems_missing_from_resamples_have_no_interval_and_a_reason():
    """One system has a single summary. Systems with constant scores do not vary either."""
    articles = np.append(np.repeat(np.arange(12), 2), 0)
    systems = np.append(np.tile([0, 1], 12), 2)
    rng = np.random.default_rng(0)
    once = system_bias(Rows(rng.integers(0, 2, 25), rng.normal(size=25), articles, systems), Resampling(100))
    assert [row.interval.reason for row in once.systems] == ["", "", TOO_FEW_OF_A_SYSTEM]
    alike = system_bias(Rows(np.ones(24), systems[:24], articles[:24], systems[:24]), Resampling(100))
    assert [row.interval.reason for row in alike.systems] == [NO_SPREAD] * 2
    assert [row.value for row in alike.systems] == pytest.approx([-1, 1])


def test_intervals_survive_resamples_that_lack_a_label():
    rng = np.random.default_rng(5)
    articles, systems = np.divmod(np.arange(60), 3)
    labels = np.where(articles == 7, 9, rng.integers(0, 2, 60))
    found = system_bias(Rows(labels, rng.normal(size=60), articles, systems), Resampling(50))
    assert [row.interval.reason for row in found.systems] == [""] * 3


def test_few_articles_give_values_without_intervals():
    found = system_bias(Rows([0, 1, 0, 1], [1, 2, 2, 1], [0, 0, 1, 1], [3, 4, 3, 4]), Resampling(5))
    assert [row.n for row in found.systems] == [2, 2]
    for row in found.systems:
        assert math.isnan(row.interval.low)
        assert "fewer than 10 articles" in row.interval.reason
        assert not row.is_marked


def test_incomplete_rows_are_counted_as_left_out():
    found = system_bias(
        Rows([0, 1, 0, 1, np.nan, 1], [1, 2, 2, 3, 1, np.nan], [0, 0, -1, 1, 1, 1], [3, 4, 3, -1, 3, 4])
    )
    assert found.n == 2
    assert set(found.left_out.values()) == {1}
    assert len(found.left_out) == 4
