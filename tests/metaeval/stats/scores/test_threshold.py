"""Thresholds, chosen for the highest kappa and evaluated out of fold."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metaeval.stats.rows import Resampling
from metaeval.stats.scores.confusion import Confusion
from metaeval.stats.scores.threshold import FOLDS, ON_THE_CUT, cut_labels, threshold
from metaeval.stats.uncertainty.percentile_interval import NO_SPREAD
from tests.metaeval.stats.simple_rows import make_rows

QUICK = {"resampling": Resampling(20)}


def find_best_by_hand(labels, scores):
    """Return the lowest score with the highest kappa."""
    found = []
    for candidate in sorted(set(scores)):
        says = [score >= candidate for score in scores]
        table = Confusion(
            sum(yes and said for yes, said in zip(labels, says, strict=True)),
            sum(not yes and said for yes, said in zip(labels, says, strict=True)),
            sum(yes and not said for yes, said in zip(labels, says, strict=True)),
            sum(not yes and not said for yes, said in zip(labels, says, strict=True)),
        )
        found.append((table.kappa.value, candidate))
    best = max(kappa for kappa, _ in found)
    return next(candidate for kappa, candidate in found if kappa == pytest.approx(best))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=10, max_size=30))
@example([(place in (2, 3), 0) for place in range(10)])
def test_the_chosen_threshold_has_the_highest_kappa(rows):
    labels, scores = [float(yes) for yes, _ in rows], [float(score) for _, score in rows]
    found = threshold(make_rows(labels, scores, np.arange(len(rows))), **QUICK)
    if found.reason:
        # Without a threshold, one answer must be rare enough to fit into one fold.
        assert min(found.yeses, found.n - found.yeses) <= math.ceil(found.n / FOLDS)
        assert math.isnan(found.value)
        return
    assert found.value == find_best_by_hand(labels, scores)
    assert found.confusion.n == found.n == len(rows)
    assert found.confusion.true_yes + found.confusion.false_no == found.yeses


@given(st.integers(0, 1000))
def test_random_scores_have_a_kappa_near_0_out_of_fold(seed):
    """On the data it was chosen on, the best threshold would always look useful."""
    rng = np.random.default_rng(seed)
    labels, scores = rng.integers(2, size=600).astype(float), rng.normal(size=600)
    found = threshold(make_rows(labels, scores, np.arange(600)), resampling=Resampling(20, seed))
    assert abs(found.confusion.kappa.value) < 0.2


def test_perfectly_ordered_scores_are_split_without_error():
    articles = np.repeat(np.arange(10), 4)
    scores = np.tile([1.0, 2.0, 3.0, 4.0], 10)
    labels = (scores >= 3).astype(float)
    found = threshold(make_rows(labels, scores, articles), **QUICK)
    assert found.value == 3
    assert found.of_folds == (3.0,) * FOLDS
    assert found.confusion == Confusion(20, 0, 0, 20)
    assert found.kappa_interval.reason == NO_SPREAD
    assert found.articles == 10


def test_an_article_does_not_choose_its_own_threshold():
    """Each article has its own score for yes, so a threshold chosen on other articles fails."""
    articles = np.repeat(np.arange(5), 2)
    labels = np.tile([1.0, 0.0], 5)
    scores = np.where(labels == 1, articles, articles + 0.5)
    found = threshold(make_rows(labels, scores, articles), **QUICK)
    assert found.confusion.kappa.value <= 0
    assert len(set(found.of_folds)) > 1


def test_lower_is_better_scores_count_as_yes_below_the_threshold():
    scores = np.tile([1.0, 2.0, 3.0, 4.0], 10)
    found = threshold(
        make_rows(scores <= 2, scores, np.repeat(np.arange(10), 4)), higher_is_better=False, **QUICK
    )
    assert found.value == 2
    assert found.confusion.kappa.value == 1
    assert "threshold or less" in found.definition


def test_each_excluded_row_is_counted_once():
    labels = [1.0, np.nan, 0.5, 0.0, 1.0, *([0.0, 1.0] * 10)]
    scores = [np.nan, np.nan, 1.0, 1.0, 1.0, *([0.0, 1.0] * 10)]
    articles = [0, 0, 0, 0, -1, *range(1, 21)]
    found = threshold(make_rows(labels, scores, articles), **QUICK)
    assert found.left_out == {
        "summaries without a label": 1,
        ON_THE_CUT: 1,
        "summaries without a score": 1,
        "summaries whose article is not known": 1,
    }
    assert found.n == 21


def test_labels_of_longer_scales_are_split_at_the_cut():
    np.testing.assert_array_equal(cut_labels([1, 3, 3.1, np.nan], 3), [0, np.nan, 1, np.nan])
    scores = np.tile([1.0, 2.0, 4.0, 5.0], 5)
    found = threshold(make_rows(scores, scores, np.arange(20)), cut=3, **QUICK)
    assert found.value == 4
    assert "above 3" in found.definition


@pytest.mark.parametrize(
    ("labels", "articles", "reason"),
    [
        ([1.0] * 8, np.arange(8), "only say yes or only no"),
        ([1.0, 0.0] * 4, np.arange(8) % 4, "fewer than 5 articles"),
        ([1.0] + [0.0] * 7, np.arange(8), "without one of the folds"),
        ([], np.arange(0), "fewer than 5 articles"),
    ],
)
def test_too_few_answers_or_articles_give_no_threshold(labels, articles, reason):
    found = threshold(make_rows(labels, np.arange(len(labels)), articles), **QUICK)
    assert reason in found.reason
    assert math.isnan(found.value)
    assert found.confusion is None


def test_order_and_codes_of_articles_do_not_matter():
    rng = np.random.default_rng(4)
    labels, scores, articles = rng.integers(2, size=90), rng.normal(size=90), rng.integers(30, size=90)
    first = threshold(make_rows(labels, scores, articles), **QUICK)
    order = rng.permutation(90)
    assert threshold(make_rows(labels[order], scores[order], articles[order] + 5), **QUICK) == first
