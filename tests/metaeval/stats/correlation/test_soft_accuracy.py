"""Soft pairwise accuracy of scores over systems."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.correlation import soft_accuracy as module
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.correlation.soft_accuracy import (
    NO_PAIR,
    SYSTEMS_ONLY,
    pair_accuracies,
    random_signs,
    soft_accuracies,
    soft_accuracy,
)
from metaeval.stats.rows import Resampling, Rows

NAN = np.nan
FEW = Resampling(50)


def rows_of(labels, scores):
    """Return the rows of two matrices (articles, systems)."""
    articles, systems = np.indices(np.shape(labels))
    columns = (np.ravel(labels), np.ravel(scores), articles.ravel(), systems.ravel())
    return Rows(*columns)


def one_order(labels, scores, signs):
    """Return the mean over pairs i < j alone, as mt-metrics-eval does, in plain loops."""

    def p_value(values, i, j):
        observed = sum(values[:, i] - values[:, j])
        return np.mean([sum(own * (values[:, i] - values[:, j])) >= observed for own in signs])

    pairs = itertools.combinations(range(labels.shape[1]), 2)
    return np.mean([1 - abs(p_value(labels, i, j) - p_value(scores, i, j)) for i, j in pairs])


def matrices(most_systems=4):
    """Two matrices (articles, systems) of whole numbers, which often tie; some cells are absent."""
    cells = st.one_of(st.integers(0, 4).map(float), st.just(NAN))
    shapes = st.tuples(st.integers(1, 6), st.integers(2, most_systems))
    return shapes.flatmap(
        lambda shape: st.tuples(
            *[
                st.lists(cells, min_size=math.prod(shape), max_size=math.prod(shape)).map(
                    lambda values: np.reshape(values, shape)
                )
            ]
            * 2
        )
    )


# By hand, for two systems, three articles and all eight ways to swap. The labels differ by 3, 1 and -1, by 3
# in all; swapped, by 3, 5, 1, 3 or their negatives: 3 of 8 are at least 3, 7 of 8 at most 3. The scores
# differ by 1, 2 and 4, by 7 in all, which is the largest: 1 of 8 is at least 7, and all are at most 7.
def test_two_systems_by_hand():
    labels, scores = np.array([[4, 1], [2, 1], [1, 2]]), np.array([[3, 2], [3, 1], [5, 1]])
    every_swap = np.array(list(itertools.product([1, -1], repeat=3)))
    expected = 1 - (abs(3 / 8 - 1 / 8) + abs(7 / 8 - 8 / 8)) / 2
    assert pair_accuracies(labels, scores, [every_swap]) == pytest.approx([expected])


def test_exact_values_by_enumeration_are_approached_by_draws():
    rng = np.random.default_rng(3)
    labels, scores = rng.normal(size=(2, 8, 5))
    every_swap = list(itertools.product([1, -1], repeat=8))
    exact = one_order(labels, scores, np.array(every_swap))
    assert soft_accuracy(rows_of(labels, scores), Resampling(20_000)).value == pytest.approx(exact, abs=0.01)


@given(matrices(), st.integers(0, 9))
def test_pairs_count_in_both_orders_with_ties_at_least_as_large(given_matrices, seed):
    labels, scores = (np.nan_to_num(values) for values in given_matrices)
    signs = np.concatenate(list(random_signs(len(labels), Resampling(20, seed))))
    orders = [
        one_order(labels, scores, signs),
        one_order(labels[:, ::-1], scores[:, ::-1], signs),
    ]
    assert soft_accuracy(rows_of(labels, scores), Resampling(20, seed)).value == pytest.approx(
        np.mean(orders), abs=1e-9
    )


def test_without_ties_one_order_is_enough():
    rng = np.random.default_rng(0)
    labels, scores = rng.normal(size=(2, 30, 6))
    signs = np.concatenate(list(random_signs(30, FEW)))
    assert soft_accuracy(rows_of(labels, scores), FEW).value == pytest.approx(
        one_order(labels, scores, signs), abs=1e-9
    )


# Computed by compute_pairwise_p_values (1,000 permutations, seed 4) and compute_one_minus_pce of
# mt_metrics_eval/pce.py, Google Research's mt-metrics-eval at commit 68a481a, from labels times 60 and scores
# times 100, rounded to whole numbers, which its 32-bit floats add without rounding: once with the systems in
# the order of the file, once in the opposite order. They differ because labels and scores tie.
MT_METRICS_EVAL = {
    ("ice_uniform", "coherence"): (0.8601833333333333, 0.8595416666666666),
    ("ice_stratified", "coherence"): (0.7794083333333334, 0.7798416666666667),
    ("ice_uniform", "consistency"): (0.7276, 0.7384666666666667),
    ("ice_stratified", "consistency"): (0.744775, 0.7374916666666667),
    ("ice_uniform", "fluency"): (0.8388166666666667, 0.8354583333333334),
    ("ice_stratified", "fluency"): (0.9009083333333333, 0.896425),
    ("ice_uniform", "relevance"): (0.83595, 0.835075),
    ("ice_stratified", "relevance"): (0.8883416666666667, 0.8864583333333333),
}


@pytest.fixture(scope="module")
def ice(shared):
    """Return a function from evaluator and dimension to labels and scores, (96 articles, 16 systems)."""
    articles = json.loads((shared / "data" / "ice" / "data_sms.json").read_text()).values()

    def of(name, times):
        values = [[each["scores"][name] for each in article["sys_summs"].values()] for article in articles]
        return np.round(np.array(values) * times)

    return lambda evaluator, dimension: (
        of(f"human_score_{dimension}", 60),
        of(f"{evaluator}_{dimension}", 100),
    )


@pytest.mark.parametrize(("evaluator", "dimension"), MT_METRICS_EVAL)
def test_values_are_the_mean_of_mt_metrics_evals_in_both_orders(ice, evaluator, dimension):
    labels, scores = ice(evaluator, dimension)
    theirs = np.rint(np.random.default_rng(4).random((1000, len(labels)), dtype=np.float32)) * 2.0 - 1
    found = pair_accuracies(labels, scores, [theirs]).mean()
    assert found == pytest.approx(np.mean(MT_METRICS_EVAL[evaluator, dimension]), abs=1e-9)
    with_own_draws = soft_accuracy(rows_of(labels, scores))
    assert with_own_draws.value == pytest.approx(found, abs=0.01)
    assert (with_own_draws.n, with_own_draws.articles, with_own_draws.systems) == (1536, 96, 16)


@given(matrices())
def test_values_are_from_0_to_1_and_1_for_the_labels_themselves(given_matrices):
    labels, scores = given_matrices
    found = soft_accuracy(rows_of(labels, scores), FEW)
    assert 0 <= found.value <= 1 or found.reason == NO_PAIR
    itself = soft_accuracy(rows_of(labels, labels), FEW)
    assert itself.value == 1 or itself.reason == NO_PAIR


@given(matrices(), st.floats(0.01, 100), st.floats(-1000, 1000))
def test_unit_and_zero_of_scores_do_not_matter(given_matrices, unit, zero):
    labels, scores = given_matrices
    found = soft_accuracy(rows_of(labels, scores), FEW)
    changed = soft_accuracy(rows_of(labels, scores * unit + zero), FEW)
    assert changed.value == pytest.approx(found.value, abs=1e-9, nan_ok=True)


@given(matrices())
def test_labels_and_scores_can_change_places(given_matrices):
    labels, scores = given_matrices
    found = soft_accuracy(rows_of(labels, scores), FEW)
    exchanged = soft_accuracy(rows_of(scores, labels), FEW)
    assert exchanged.value == pytest.approx(found.value, abs=1e-9, nan_ok=True)


@given(matrices(), st.randoms(use_true_random=False))
def test_names_of_systems_do_not_matter(given_matrices, random):
    """The draws are of articles, so not even they depend on the systems."""
    labels, scores = given_matrices
    order = list(range(labels.shape[1]))
    random.shuffle(order)
    found = soft_accuracy(rows_of(labels, scores), FEW)
    renamed = soft_accuracy(rows_of(labels[:, order], scores[:, order]), FEW)
    assert renamed.value == pytest.approx(found.value, abs=1e-9, nan_ok=True)


@given(matrices())
def test_scores_and_negated_scores_make_1_together_at_least(given_matrices):
    """|a - b| + |a + b| is at most 1 for two p-values less ½: undecided people agree with both."""
    labels, scores = given_matrices
    found = soft_accuracy(rows_of(labels, scores), FEW)
    negated = soft_accuracy(rows_of(labels, -scores), FEW)
    assert found.reason or found.value + negated.value >= 1 - 1e-9
    both_negated = soft_accuracy(rows_of(-labels, -scores), FEW)
    assert both_negated.value == pytest.approx(found.value, abs=1e-9, nan_ok=True)


def test_equal_scores_earn_half_where_labels_are_sure():
    labels = np.arange(40.0)[:, None] + np.array([0.0, 10.0, 20.0])
    assert soft_accuracy(rows_of(labels, np.ones((40, 3)))).value == pytest.approx(0.5)


def test_the_reverse_order_earns_nothing_where_both_are_sure():
    labels = np.arange(40.0)[:, None] + np.array([0.0, 10.0, 20.0])
    assert soft_accuracy(rows_of(labels, -labels)).value == pytest.approx(0)


# 0.1 + 0.2 is 0.3 plus 6e-17, so without a tolerance the swap would change the difference.
def test_differences_by_rounding_are_ties():
    labels = [[0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2]]
    found = pair_accuracies(np.array(labels), np.ones((2, 2)), [np.array([[1.0, -1.0]])])
    assert found.tolist() == [1]


def test_two_systems_are_compared_on_the_articles_of_both():
    rng = np.random.default_rng(5)
    labels, scores = rng.normal(size=(2, 12, 2))
    shared = soft_accuracy(rows_of(labels, scores), FEW)
    more_labels = np.vstack([labels, [[9.0, NAN], [NAN, 9.0], [9.0, 1.0]]])
    more_scores = np.vstack([scores, [[9.0, NAN], [9.0, 9.0], [NAN, 9.0]]])
    found = soft_accuracy(rows_of(more_labels, more_scores), FEW)
    assert found.value == shared.value
    assert (found.n, found.articles, found.systems) == (24, 12, 2)
    assert found.left_out == {
        "summaries without a label": 2,
        "summaries without a score": 1,
        "summaries of articles with only one system": 3,
    }


def test_pairs_without_a_common_article_are_left_out_and_counted():
    labels = np.array([[1.0, 2.0, NAN], [NAN, 2.0, 3.0]])
    found = soft_accuracy(rows_of(labels, labels), FEW)
    assert (found.value, found.systems) == (1, 3)
    assert found.left_out == {
        "summaries without a label": 2,
        "pairs of systems without a common article": 1,
    }


def test_summaries_of_unknown_article_or_system_are_left_out():
    rows = Rows([1, 2, 5, 5, 5], [1, 2, 5, 5, 5], [0, 0, -1, 0, -1], [0, 1, 0, -1, -1])
    found = soft_accuracy(rows, FEW)
    assert (found.value, found.n) == (1, 2)
    assert found.left_out == {
        "summaries whose article is not known": 2,
        "summaries whose system is not known": 1,
    }


def test_several_summaries_of_an_article_by_one_system_count_as_their_mean():
    labels, scores = [1, 3, 1, 4, 1], [5, 7, 3, 2, 2]
    found = soft_accuracy(Rows(labels, scores, [0, 0, 0, 1, 1], [0, 0, 1, 0, 1]), FEW)
    means = soft_accuracy(Rows([2, 1, 4, 1], [6, 3, 2, 2], [0, 0, 1, 1], [0, 1, 0, 1]), FEW)
    assert (found.value, found.n) == (means.value, 5)


@pytest.mark.parametrize(
    "rows",
    [
        rows_of([[1.0], [2.0]], [[1.0], [2.0]]),
        rows_of([[1.0, NAN], [NAN, 2.0]], [[1.0, 2.0], [1.0, 2.0]]),
        Rows([], [], np.array([], dtype=int), np.array([], dtype=int)),
    ],
    ids=["one system", "no common article", "nothing"],
)
def test_without_two_systems_on_an_article_it_is_undefined(rows):
    found = soft_accuracy(rows)
    assert math.isnan(found.value)
    assert found.reason == NO_PAIR


@pytest.mark.parametrize("level", LEVELS)
def test_only_systems_means_have_it(level):
    labels = np.array([[1.0, 2.0], [2.0, 3.0]])
    both = rows_of(labels, labels).with_scores(np.array([labels.ravel(), -labels.ravel()]))
    found = soft_accuracies(LEVELS[level], both)
    if level == "system":
        assert [each.reason for each in found] == ["", ""]
        assert found[0].value == 1
    else:
        assert [each.reason for each in found] == [SYSTEMS_ONLY] * 2
        assert [each.n for each in found] == [4, 4]
    assert all("1,000 draws, seed 0" in each.definition for each in found)


def test_blocks_of_draws_and_pairs_do_not_matter(monkeypatch):
    rng = np.random.default_rng(7)
    labels, scores = rng.normal(size=(2, 10, 6))
    signs = np.concatenate(list(random_signs(10, Resampling(60))))
    at_once = pair_accuracies(labels, scores, [signs])
    monkeypatch.setattr(module, "CELLS_AT_ONCE", 80)
    assert pair_accuracies(labels, scores, np.split(signs, 6)).tolist() == at_once.tolist()
    assert [block.shape for block in random_signs(10, Resampling(20))] == [(8, 10), (8, 10), (4, 10)]
