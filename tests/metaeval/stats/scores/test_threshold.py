"""Thresholds: chosen by hand's rule, judged on what they were not chosen on."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from metaeval.stats.scores.confusion import Confusion
from metaeval.stats.scores.threshold import FOLDS, ON_THE_CUT, cut_labels, threshold
from metaeval.stats.uncertainty.percentile_interval import NO_SPREAD

QUICK = {"resamples": 20}


def best_by_hand(labels, scores):
    """The lowest of the scores with the highest kappa, one candidate at a time."""
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
@settings(max_examples=60, deadline=None)
def test_the_chosen_threshold_has_the_highest_kappa(rows):
    labels, scores = [float(yes) for yes, _ in rows], [float(score) for _, score in rows]
    found = threshold(labels, scores, np.arange(len(rows)), **QUICK)
    if found.reason:
        # Only what fits into one fold can be lacking without it.
        assert min(found.yeses, found.n - found.yeses) <= math.ceil(found.n / FOLDS)
        assert math.isnan(found.value)
        return
    assert found.value == best_by_hand(labels, scores)
    assert found.confusion.n == found.n == len(rows)
    assert found.confusion.true_yes + found.confusion.false_no == found.yeses


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_scores_without_any_information_are_worth_nothing_out_of_fold(seed):
    """On the data it is chosen on, the best threshold always seems to be worth something."""
    rng = np.random.default_rng(seed)
    labels, scores = rng.integers(2, size=600).astype(float), rng.normal(size=600)
    found = threshold(labels, scores, np.arange(600), seed=seed, **QUICK)
    assert abs(found.confusion.kappa.value) < 0.2


def test_scores_that_order_as_labels_do_are_cut_without_a_mistake():
    articles = np.repeat(np.arange(10), 4)
    scores = np.tile([1.0, 2.0, 3.0, 4.0], 10)
    labels = (scores >= 3).astype(float)
    found = threshold(labels, scores, articles, **QUICK)
    assert found.value == 3
    assert found.of_folds == (3.0,) * FOLDS
    assert found.confusion == Confusion(20, 0, 0, 20)
    assert found.kappa_interval.reason == NO_SPREAD
    assert found.articles == 10


def test_what_only_one_article_shows_does_not_help_to_decide_it():
    """In each article the yes has the article's own score: chosen elsewhere, no threshold can know it."""
    articles = np.repeat(np.arange(5), 2)
    labels = np.tile([1.0, 0.0], 5)
    scores = np.where(labels == 1, articles, articles + 0.5)
    found = threshold(labels, scores, articles, **QUICK)
    assert found.confusion.kappa.value <= 0
    assert len(set(found.of_folds)) > 1


def test_scores_that_are_better_when_lower_are_cut_from_above():
    scores = np.tile([1.0, 2.0, 3.0, 4.0], 10)
    found = threshold(scores <= 2, scores, np.repeat(np.arange(10), 4), higher_is_better=False, **QUICK)
    assert found.value == 2
    assert found.confusion.kappa.value == 1
    assert "threshold or less" in found.definition


def test_what_is_left_out_is_counted_once():
    labels = [1.0, np.nan, 0.5, 0.0, 1.0, *([0.0, 1.0] * 10)]
    scores = [np.nan, np.nan, 1.0, 1.0, 1.0, *([0.0, 1.0] * 10)]
    articles = [0, 0, 0, 0, -1, *range(1, 21)]
    found = threshold(labels, scores, articles, **QUICK)
    assert found.left_out == {
        "summaries without a label": 1,
        ON_THE_CUT: 1,
        "summaries without a score": 1,
        "summaries whose article is not known": 1,
    }
    assert found.n == 21


def test_labels_of_a_longer_scale_are_cut_where_told():
    np.testing.assert_array_equal(cut_labels([1, 3, 3.1, np.nan], 3), [0, np.nan, 1, np.nan])
    scores = np.tile([1.0, 2.0, 4.0, 5.0], 5)
    found = threshold(scores, scores, np.arange(20), cut=3, **QUICK)
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
def test_without_both_answers_or_articles_there_is_none(labels, articles, reason):
    found = threshold(labels, np.arange(len(labels)), articles, **QUICK)
    assert reason in found.reason
    assert math.isnan(found.value)
    assert found.confusion is None


def test_order_and_codes_of_articles_do_not_matter_beyond_the_seed():
    rng = np.random.default_rng(4)
    labels, scores, articles = rng.integers(2, size=90), rng.normal(size=90), rng.integers(30, size=90)
    first = threshold(labels, scores, articles, **QUICK)
    order = rng.permutation(90)
    assert threshold(labels[order], scores[order], articles[order] + 5, **QUICK) == first


@pytest.mark.parametrize("wrong", [{"articles": [0.5, 1.0]}, {"articles": [1]}, {"scores": [np.inf, 1]}])
def test_what_is_no_number_is_refused(wrong):
    with pytest.raises(ValueError, match=r"articles|scores|lengths"):
        threshold(**{"labels": [0, 1], "scores": [1, 2], "articles": [1, 2], **wrong})
