"""Which units of a table of counts can show agreement."""

import pytest

from metaeval.stats.agreement.agreement_counts import pairable


def test_units_with_fewer_than_two_ratings_are_counted_as_left_out():
    counts, left_out = pairable([[2, 0], [1, 0], [0, 0], [1, 1]])
    assert counts.tolist() == [[2, 0], [1, 1]]
    assert left_out == {"summaries with fewer than two ratings": 2}


def test_no_unit_with_two_ratings_is_left_out():
    assert pairable([[2, 0]]).left_out == {}


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, 2], r"shape \(units, answers\), not \(2,\)"),
        ([[0.5, 1.5]], "whole numbers, not float64"),
        ([[2, -1]], "0 or more, not -1"),
    ],
)
def test_an_invalid_table_of_counts_is_refused(counts, message):
    with pytest.raises(ValueError, match=message):
        pairable(counts)
