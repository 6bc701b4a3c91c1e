"""How far missing scores could move a coefficient, beside all fillings there are."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.scores.missing_bounds import missing_bounds

answers = st.sampled_from([0.0, 1.0])
scores_or_none = st.one_of(st.none(), st.integers(0, 3))


@given(st.lists(st.tuples(answers, scores_or_none), min_size=2, max_size=8))
@settings(max_examples=60, deadline=None)
def test_the_ends_of_the_area_are_those_of_all_fillings(rows):
    """Beside, between and at every present score: more cannot matter to an order."""
    labels = np.array([label for label, _ in rows])
    scores = np.array([score for _, score in rows], dtype=float)
    missing = np.flatnonzero(np.isnan(scores))
    if labels.min() == labels.max() or len(missing) in (len(rows), *range(4, 9)):
        return
    found = missing_bounds("roc_auc", labels, scores, yes_no=True)
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
@settings(max_examples=60, deadline=None)
def test_the_ends_hold_each_other_and_without_missing_scores_the_value(coefficient, rows):
    labels = np.array([label for label, _ in rows], dtype=float)
    scores = np.array([score for _, score in rows], dtype=float)
    found = missing_bounds(coefficient, labels, scores)
    if found.reason:
        assert "all" in found.reason or "no summary" in found.reason
        return
    assert -1 <= found.low <= found.high <= 1
    assert not found.are_exact
    if not found.missing:
        assert found.low == found.high == COEFFICIENTS[coefficient].of(labels, scores).value


def test_scores_that_follow_labels_stay_so_if_the_missing_ones_do():
    """Put above all others, the missing score of the middle label would spoil the order."""
    found = missing_bounds("spearman", [1, 2, 3, 4, 5], [1, 2, np.nan, 4, 5])
    assert found.high == pytest.approx(1)
    assert found.low == pytest.approx(0.7)


def test_a_worked_example():
    """One yes of three has no score: its two pairs with noes are won or lost."""
    found = missing_bounds("roc_auc", [1, 1, 0, 0], [0.9, np.nan, 0.5, 0.1], yes_no=True)
    assert (found.low, found.high, found.n, found.missing) == (0.5, 1.0, 4, 1)


def test_summaries_without_a_label_are_not_filled():
    found = missing_bounds("roc_auc", [1, 0, np.nan, 0.5], [2, 1, np.nan, np.nan], yes_no=True)
    assert (found.low, found.high, found.missing) == (1, 1, 0)
    assert set(found.left_out.values()) == {1}


def test_a_coefficient_that_any_size_moves_has_no_bounds():
    found = missing_bounds("pearson", [1, 2, 3], [1, 2, np.nan])
    assert math.isnan(found.low)
    assert "of any size" in found.reason


def test_the_area_needs_yes_and_no():
    assert "yes/no question" in missing_bounds("roc_auc", [0, 1], [1, 2]).reason
    assert "only yes or only no" in missing_bounds("roc_auc", [1, 1], [1, 2], yes_no=True).reason
