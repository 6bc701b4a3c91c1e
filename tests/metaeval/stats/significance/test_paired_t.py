"""The paired t-test on articles' coefficients."""

import numpy as np
import pytest
import scipy.stats

from metaeval.stats.rows import Rows
from metaeval.stats.significance.compare_pairs import compare_pairs

ARTICLES, SYSTEMS = (codes.ravel() for codes in np.indices((12, 6)))


def make_scores(seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.normal(size=72)
    return labels, labels + rng.normal(size=(2, 72)) * [[1], [2]]


def test_p_value_matches_scipys_test_on_the_articles_coefficients():
    labels, scores = make_scores()
    one, other = (
        [scipy.stats.kendalltau(labels[a == ARTICLES], row[a == ARTICLES])[0] for a in range(12)]
        for row in scores
    )
    expected = scipy.stats.ttest_rel(one, other)
    found = compare_pairs("paired_t", "article", "kendall_b", Rows(labels, scores, ARTICLES, SYSTEMS))
    assert found.p_values[0, 1] == pytest.approx(expected.pvalue, abs=1e-12)


def test_articles_undefined_for_either_evaluator_are_left_out():
    labels, scores = make_scores()
    without = ARTICLES != 4
    expected = compare_pairs(
        "paired_t",
        "article",
        "pearson",
        Rows(labels[without], scores[:, without], ARTICLES[without], SYSTEMS[without]),
    )
    scores[1, ~without] = 1.0
    found = compare_pairs("paired_t", "article", "pearson", Rows(labels, scores, ARTICLES, SYSTEMS))
    assert found.p_values[0, 1] == pytest.approx(expected.p_values[0, 1], abs=1e-12)


@pytest.mark.parametrize("level", ["pooled", "system"])
def test_the_test_needs_the_article_level(level):
    found = compare_pairs("paired_t", level, "pearson", Rows(*make_scores(), ARTICLES, SYSTEMS))
    assert np.isnan(found.p_values[0, 1])
    assert "mean over articles" in found.reasons[0, 1]


def test_one_article_is_too_few():
    labels, scores = make_scores()
    found = compare_pairs("paired_t", "article", "pearson", Rows(labels, scores, ARTICLES * 0, SYSTEMS))
    assert found.reasons[0, 1] == "fewer than two articles in which both coefficients are defined"


def test_equal_differences_in_all_articles_have_no_p_value():
    labels = np.tile([1.0, 2.0, 3.0], 4)
    articles, systems = np.divmod(np.arange(12), 3)
    found = compare_pairs(
        "paired_t", "article", "kendall_b", Rows(labels, [labels, -labels], articles, systems)
    )
    assert np.isnan(found.p_values[0, 1])
    assert found.reasons[0, 1] == "all articles' differences are equal"


def test_two_articles_are_enough():
    labels, scores = make_scores()
    two = ARTICLES < 2
    found = compare_pairs(
        "paired_t", "article", "pearson", Rows(labels[two], scores[:, two], ARTICLES[two], SYSTEMS[two])
    )
    one, other = (
        [scipy.stats.pearsonr(labels[a == ARTICLES], row[a == ARTICLES])[0] for a in range(2)]
        for row in scores
    )
    assert found.p_values[0, 1] == pytest.approx(scipy.stats.ttest_rel(one, other).pvalue, abs=1e-9)


def test_differences_that_vary_only_by_rounding_are_equal():
    """Otherwise rounding errors would give a p-value near 0."""
    rng = np.random.default_rng(2)
    one = rng.normal(size=6)
    rows = one + np.array([[0.3, -0.4, 0.1, 0.5, -0.2, 0.7], [1, 3, -2, 0.5, 1, -1]])
    factors = rng.uniform(0.1, 9, 12)[:, None]
    labels, scores = np.tile(one, 12), np.array([(row * factors).ravel() for row in rows])
    own, other = (np.array([np.corrcoef(one, row[a == ARTICLES])[0, 1] for a in range(12)]) for row in scores)
    assert 0 < np.ptp(own - other) < 1e-12
    found = compare_pairs("paired_t", "article", "pearson", Rows(labels, scores, ARTICLES, SYSTEMS))
    assert found.reasons[0, 1] == "all articles' differences are equal"
    assert np.isnan(found.p_values[0, 1])
