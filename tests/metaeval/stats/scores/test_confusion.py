"""Rates of yes/no decisions, compared with textbook values and their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.scores.confusion import Confusion

counts = st.integers(0, 50)


def test_rates_match_a_textbook_example():
    """20 and 15 agree, 5 and 10 disagree: Cohen's kappa is .4."""
    table = Confusion(true_yes=20, false_yes=10, false_no=5, true_no=15)
    assert table.n == 50
    assert table.kappa.value == pytest.approx(0.4)
    assert table.accuracy.value == 0.7
    assert table.true_yes_rate.value == 0.8
    assert table.true_no_rate.value == 0.6
    assert table.mcc.value == pytest.approx(250 / math.sqrt(30 * 25 * 25 * 20))


@given(counts, counts, counts, counts)
def test_kappa_and_mcc_equal_their_definitions(tp, fp, fn, tn):
    table = Confusion(tp, fp, fn, tn)
    n = table.n
    if n and 0 < tp + fp < n and 0 < tp + fn < n:
        agreed = (tp + tn) / n
        by_chance = ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / n**2
        assert table.kappa.value == pytest.approx((agreed - by_chance) / (1 - by_chance))
        people = np.repeat([1, 0, 1, 0], [tp, fp, fn, tn])
        decided = np.repeat([1, 1, 0, 0], [tp, fp, fn, tn])
        assert table.mcc.value == pytest.approx(np.corrcoef(people, decided)[0, 1])
    else:
        assert math.isnan(table.mcc.value)
        assert table.mcc.reason


def test_undefined_rates_have_a_reason():
    only_yes = Confusion(true_yes=3, false_yes=0, false_no=0, true_no=0)
    assert "the same answer" in only_yes.kappa.reason
    assert only_yes.true_no_rate.reason == "people say yes to all"
    assert only_yes.true_yes_rate.value == 1
    nothing = Confusion(0, 0, 0, 0)
    assert nothing.accuracy.reason == "no summary was decided"


def test_deciding_yes_for_all_has_a_kappa_of_0():
    assert Confusion(true_yes=3, false_yes=5, false_no=0, true_no=0).kappa.value == 0
