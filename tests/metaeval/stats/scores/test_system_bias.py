"""Systems that an evaluator favours, beside the definition written out."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaeval.stats.scores.system_bias import TOO_FEW_OF_A_SYSTEM, system_bias
from metaeval.stats.uncertainty.percentile_interval import NO_SPREAD


def by_hand(labels, scores, systems):
    """Labels with few values are their own bins."""
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
@settings(max_examples=30, deadline=None)
def test_it_is_the_mean_distance_from_the_mean_score_at_the_label(seed):
    rng = np.random.default_rng(seed)
    labels, systems = rng.integers(0, 2, 60), rng.integers(0, 4, 60)
    scores = rng.normal(size=60)
    found = system_bias(labels, scores, np.arange(60), systems, resamples=5)
    expected = by_hand(labels, scores, systems)
    assert {row.system: pytest.approx(row.value) for row in found.systems} == expected
    assert sum(row.n * row.value for row in found.systems) == pytest.approx(0, abs=1e-9)


def test_a_favoured_system_is_marked_and_with_it_those_that_stand_back():
    rng = np.random.default_rng(1)
    articles, systems = np.divmod(np.arange(600), 6)
    labels = rng.integers(1, 6, 600).astype(float)
    scores = labels + rng.normal(size=600) + 2.0 * (systems == 4)
    rows = system_bias(labels, scores, articles, systems, resamples=300).systems
    favoured = rows[4]
    assert favoured.is_marked
    assert favoured.interval.low > 0.5
    assert all(row.value < 0 for row in rows if row.system != 4)


def test_without_any_favour_hardly_a_table_marks_anything():
    """95 of 100 tables of twenty systems each are to have no mark; one by one a mark would be in most."""
    marked = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        articles, systems = np.divmod(np.arange(1000), 20)
        labels = rng.integers(0, 2, 1000).astype(float)
        scores = labels + rng.normal(size=1000)
        found = system_bias(labels, scores, articles, systems, resamples=200, seed=seed)
        marked += any(row.is_marked for row in found.systems)
    assert marked <= 7


def test_scores_in_other_units_make_the_same_table():
    rng = np.random.default_rng(2)
    articles, systems = np.divmod(np.arange(100), 5)
    labels, scores = rng.integers(0, 2, 100), rng.normal(size=100)
    first = system_bias(labels, scores, articles, systems, resamples=50)
    second = system_bias(labels, 100 * scores + 7, articles, systems, resamples=50)
    assert [row.value for row in first.systems] == pytest.approx([row.value for row in second.systems])
    assert [row.interval.low for row in first.systems] == pytest.approx(
        [row.interval.low for row in second.systems]
    )


def test_one_system_and_equal_scores_have_no_favour():
    one = system_bias([0, 1], [1, 2], [0, 1], [3, 3])
    assert (one.systems, one.reason) == ((), "fewer than two systems")
    assert system_bias([0, 1], [1, 1], [0, 1], [3, 4]).reason == "all scores equal"


def test_scores_far_from_0_make_the_same_table():
    rng = np.random.default_rng(3)
    articles, systems = np.divmod(np.arange(100), 5)
    labels, scores = rng.integers(1, 6, 100), rng.integers(0, 9, 100).astype(float)
    near, far = (
        system_bias(labels, scores + offset, articles, systems, resamples=20) for offset in (0, 2.0**30)
    )
    assert [row.value for row in far.systems] == pytest.approx([row.value for row in near.systems], abs=1e-9)


def test_systems_that_resamples_say_nothing_of_have_the_reason_in_place_of_ends():
    """One system has a summary of one article only; with one label, and one score each, nothing varies."""
    articles = np.append(np.repeat(np.arange(12), 2), 0)
    systems = np.append(np.tile([0, 1], 12), 2)
    rng = np.random.default_rng(0)
    once = system_bias(rng.integers(0, 2, 25), rng.normal(size=25), articles, systems, resamples=100)
    assert [row.interval.reason for row in once.systems] == ["", "", TOO_FEW_OF_A_SYSTEM]
    alike = system_bias(np.ones(24), systems[:24], articles[:24], systems[:24], resamples=100)
    assert [row.interval.reason for row in alike.systems] == [NO_SPREAD] * 2
    assert [row.value for row in alike.systems] == pytest.approx([-1, 1])


def test_a_label_that_a_resample_lacks_leaves_the_other_systems_their_intervals():
    rng = np.random.default_rng(5)
    articles, systems = np.divmod(np.arange(60), 3)
    labels = np.where(articles == 7, 9, rng.integers(0, 2, 60))
    found = system_bias(labels, rng.normal(size=60), articles, systems, resamples=50)
    assert [row.interval.reason for row in found.systems] == [""] * 3


def test_few_articles_have_values_without_intervals():
    found = system_bias([0, 1, 0, 1], [1, 2, 2, 1], [0, 0, 1, 1], [3, 4, 3, 4], resamples=5)
    assert [row.n for row in found.systems] == [2, 2]
    for row in found.systems:
        assert math.isnan(row.interval.low)
        assert "fewer than 10 articles" in row.interval.reason
        assert not row.is_marked


def test_what_lacks_something_is_left_out_and_counted():
    found = system_bias(
        [0, 1, 0, 1, np.nan, 1], [1, 2, 2, 3, 1, np.nan], [0, 0, -1, 1, 1, 1], [3, 4, 3, -1, 3, 4]
    )
    assert found.n == 2
    assert set(found.left_out.values()) == {1}
    assert len(found.left_out) == 4
