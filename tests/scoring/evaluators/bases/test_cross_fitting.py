"""Properties of article folds, isotonic regression and cuts."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from scoring.evaluators.bases.cross_fitting import (
    LabelledScore,
    SameArticles,
    best_cut,
    folds_of,
    isotonic,
    without_fold,
)

SCORES = st.floats(-50, 50).map(lambda score: round(score, 1))  # some are equal
LABELS = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
LABELLED = st.lists(
    st.builds(LabelledScore, st.sampled_from("abcdef"), SCORES, LABELS), min_size=1, max_size=40
)


@given(LABELLED, st.lists(st.floats(-60, 60), min_size=2))
@example(
    [LabelledScore("a", score, label) for score, label in ((0, 0), (0, 0.25), (0, 1), (-1.6, 0))], [0, -6e-87]
)
def test_fit_is_monotone_within_the_range_of_labels(labelled, scores):
    fit = isotonic(labelled)
    values = [fit(score) for score in sorted(scores)]
    assert all(later >= earlier - 1e-12 for earlier, later in pairwise(values))
    labels = [each.label for each in labelled]
    assert all(min(labels) - 1e-12 <= value <= max(labels) + 1e-12 for value in values)


@given(LABELLED)
def test_fit_equals_scipys_weighted_regression_of_mean_labels_at_known_scores(labelled):
    by_score = {}
    for each in labelled:
        by_score.setdefault(each.score, []).append(each.label)
    scores = sorted(by_score)
    expected = isotonic_regression(
        [np.mean(by_score[score]) for score in scores], weights=[len(by_score[score]) for score in scores]
    ).x
    fit = isotonic(labelled)
    assert [fit(score) for score in scores] == pytest.approx(list(expected))


def test_fit_of_four_points():
    points = zip((1.0, 2.0, 3.0, 4.0), (0.0, 0.75, 0.25, 1.0), strict=True)
    fit = isotonic([LabelledScore("a", score, label) for score, label in points])
    assert [fit(score) for score in (0, 1, 2, 2.5, 3, 3.5, 9)] == [0, 0, 0.5, 0.5, 0.5, 0.75, 1]


def test_fit_without_labels_is_refused():
    with pytest.raises(ValueError, match="no labels"):
        isotonic([])


@given(st.sets(st.text(max_size=5), min_size=1, max_size=30), st.integers(2, 6), st.integers(0, 5))
def test_folds_have_equal_sizes_and_depend_only_on_the_articles(articles, folds, seed):
    dealt = folds_of(articles, folds, seed)
    assert dealt == folds_of([*articles, *articles], folds, seed)
    assert dealt.keys() == articles
    sizes = np.bincount(list(dealt.values()), minlength=folds)
    assert sizes.max() - sizes.min() <= 1


def test_another_seed_gives_other_folds():
    articles = [str(number) for number in range(40)]
    assert folds_of(articles, 4, 0) != folds_of(articles, 4, 1)


@given(LABELLED)
def test_leaving_out_a_fold_removes_its_articles_only(labelled):
    folds = folds_of([each.article for each in labelled], 3, 0)
    for fold in range(3):
        kept = without_fold(labelled, fold, folds)
        assert all(folds[each.article] != fold for each in kept)
        assert len(kept) == sum(folds[each.article] != fold for each in labelled)
    assert without_fold(labelled, None, folds) == labelled


@given(LABELLED)
def test_cut_has_the_best_balanced_accuracy(labelled):
    good = np.array([each.score for each in labelled if each.label >= 0.5])
    bad = np.array([each.score for each in labelled if each.label < 0.5])
    if not len(good) or not len(bad):
        with pytest.raises(ValueError, match="all labels are"):
            best_cut(labelled, 0.5)
        return

    def accuracy(cut):
        return np.mean([np.mean(good >= cut), np.mean(bad < cut)])

    best = max(accuracy(score) for score in {*good, *bad})
    assert accuracy(best_cut(labelled, 0.5)) == pytest.approx(best)


def test_lowest_of_equally_good_cuts_is_half_way_between_two_scores():
    labelled = [LabelledScore("a", score, label) for score, label in ((1, 0), (2, 1), (3, 0), (4, 1))]
    assert best_cut(labelled, 0.5) == 1.5


def test_same_articles_are_joined_by_id_or_text_in_any_order():
    pairs = [("a", "one"), ("b", "two"), ("c", ""), ("b", "one"), ("d", ""), ("c", "")]
    for order in (pairs, pairs[::-1]):
        same = SameArticles(order)
        assert [same.names(each, "") for each in "abcde"] == [{"a"}, {"a"}, {"c"}, {"d"}, set()]
        assert same.names("e", "two") == {"a"}
        assert same.names("c", "two") == {"a", "c"}
