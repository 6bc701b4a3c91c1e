"""Bounds on a coefficient with missing scores, compared with every possible filling."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.scores.missing_bounds import missing_bounds
from tests.metaeval.stats.simple_rows import make_rows

answers = st.sampled_from([0.0, 1.0])
scores_or_none = st.one_of(st.none(), st.integers(0, 3))


@given(st.lists(st.tuples(answers, scores_or_none), min_size=2, max_size=8))
def test_roc_auc_bounds_equal_the_extremes_of_all_fillings(rows):
    """Fillings at, between and beyond the present scores cover every possible order."""
    labels = np.array([label for label, _ in rows])
    scores = np.array([score for _, score in rows], dtype=float)
    missing = np.flatnonzero(np.isnan(scores))
    if labels.min() == labels.max() or len(missing) in (len(rows), *range(4, 9)):
        return
    found = missing_bounds("roc_auc", make_rows(labels, scores, yes_no=True))
    values = []
    for filling in itertools.product(np.arange(-0.5, 4, 0.5), repeat=len(missing)):
        filled = scores.copy()
        filled[missing] = filling
        values.append(COEFFICIENTS["roc_auc"].of(labels, filled).value)
    assert found.are_exact
    assert (found.low, found.high) == pytest.approx((min(values), max(values)))
    assert found.missing == len(missing)


@pytest.mark.parametrize("coefficient", ["spearman", "kendall_b"])
@given(rows=st.lists(st.tuples(st.integers(1, 5), scores_or_none), min_size=3, max_size=12))
def test_rank_bounds_are_ordered_and_equal_the_value_without_gaps(coefficient, rows):
    labels = np.array([label for label, _ in rows], dtype=float)
    scores = np.array([score for _, score in rows], dtype=float)
    found = missing_bounds(coefficient, make_rows(labels, scores))
    if found.reason:
        assert "all" in found.reason or "no summary" in found.reason
        return
    assert -1 <= found.low <= found.high <= 1
    assert not found.are_exact
    if not found.missing:
        assert found.low == found.high == COEFFICIENTS[coefficient].of(labels, scores).value


def test_the_upper_bound_of_perfectly_ordered_scores_is_1():
    """The best filling lies between its neighbours; one above all others would break the order."""
    found = missing_bounds("spearman", make_rows([1, 2, 3, 4, 5], [1, 2, np.nan, 4, 5]))
    assert found.high == pytest.approx(1)
    assert found.low == pytest.approx(0.7)


def test_roc_auc_bounds_match_a_worked_example():
    """One of two yes summaries has no score, so its two pairs with no are won or lost."""
    found = missing_bounds("roc_auc", make_rows([1, 1, 0, 0], [0.9, np.nan, 0.5, 0.1], yes_no=True))
    assert (found.low, found.high, found.n, found.missing) == (0.5, 1.0, 4, 1)


def test_unlabelled_summaries_are_not_filled():
    found = missing_bounds("roc_auc", make_rows([1, 0, np.nan, 0.5], [2, 1, np.nan, np.nan], yes_no=True))
    assert (found.low, found.high, found.missing) == (1, 1, 0)
    assert set(found.left_out.values()) == {1}


def test_pearson_has_no_bounds():
    found = missing_bounds("pearson", make_rows([1, 2, 3], [1, 2, np.nan]))
    assert math.isnan(found.low)
    assert "of any size" in found.reason


def test_roc_auc_bounds_need_yes_and_no_labels():
    assert "yes/no question" in missing_bounds("roc_auc", make_rows([0, 1], [1, 2])).reason
    assert "only yes or only no" in missing_bounds("roc_auc", make_rows([1, 1], [1, 2], yes_no=True)).reason
