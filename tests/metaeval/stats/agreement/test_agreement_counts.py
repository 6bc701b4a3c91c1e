"""The table of counts, and which of its units can show agreement."""

import numpy as np
import pytest

from metaeval.stats.agreement.agreement_counts import agreement_counts, pairable


def test_it_counts_each_answer_of_each_unit():
    counts = agreement_counts([0, 2, 0, 0], [1, 0, 1, 2], n_units=4, n_answers=3)
    assert counts.tolist() == [[0, 2, 1], [0, 0, 0], [1, 0, 0], [0, 0, 0]]


def test_no_ratings_make_a_table_of_zeros():
    nothing = np.array([], dtype=int)
    assert agreement_counts(nothing, nothing, n_units=2, n_answers=2).tolist() == [[0, 0], [0, 0]]
    assert agreement_counts(nothing, nothing, n_units=0, n_answers=2).shape == (0, 2)


@pytest.mark.parametrize(
    ("units", "answers", "message"),
    [
        ([0, 1], [0], "units 2, answers 1"),
        ([0, 2], [0, 1], r"units\[1\] is 2: it must lie between 0 and 1"),
        ([-1, 0], [0, 1], r"units\[0\] is -1"),
        ([0, 1], [0, 3], r"answers\[1\] is 3: it must lie between 0 and 2"),
        ([0, 1], [0, -1], r"answers\[1\] is -1"),
        ([0, 1], [0.0, 1.0], "answers must be whole-number codes, not float64"),
        ([[0, 1]], [0, 1], r"units must be a 1-D array, not one of shape \(1, 2\)"),
    ],
)
def test_it_refuses_codes_that_do_not_fit(units, answers, message):
    with pytest.raises(ValueError, match=message):
        agreement_counts(units, answers, n_units=2, n_answers=3)


def test_units_with_fewer_than_two_ratings_are_left_out_and_counted():
    counts, left_out = pairable([[2, 0], [1, 0], [0, 0], [1, 1]])
    assert counts.tolist() == [[2, 0], [1, 1]]
    assert left_out == {"summaries with fewer than two ratings": 2}


def test_nothing_is_left_out_where_every_unit_has_two():
    assert pairable([[2, 0]]).left_out == {}


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, 2], r"shape \(units, answers\), not \(2,\)"),
        ([[0.5, 1.5]], "whole numbers, not float64"),
        ([[2, -1]], "0 or more, not -1"),
    ],
)
def test_it_refuses_what_is_not_a_table_of_counts(counts, message):
    with pytest.raises(ValueError, match=message):
        pairable(counts)
