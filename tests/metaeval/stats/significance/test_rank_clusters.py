"""Letters of evaluators that do not differ significantly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.significance.rank_clusters import rank_clusters


@st.composite
def comparisons(draw):
    size = draw(st.integers(0, 9))
    values = draw(st.lists(st.floats(-1, 1), min_size=size, max_size=size))
    flags = draw(st.lists(st.booleans(), min_size=size * size, max_size=size * size))
    upper = np.triu(np.array(flags, dtype=bool).reshape(size, size), 1)
    return values, upper | upper.T


@given(comparisons())
def test_two_evaluators_share_a_letter_unless_they_differ_significantly(case):
    values, apart = case
    letters = rank_clusters(values, apart)
    for first in range(len(values)):
        assert letters[first]
        for second in range(len(values)):
            if first != second:
                assert bool(set(letters[first]) & set(letters[second])) != apart[first, second]


@given(comparisons())
def test_no_letter_is_redundant(case):
    letters = rank_clusters(*case)
    holders = [{at for at, own in enumerate(letters) if letter in own} for letter in set("".join(letters))]
    assert not any(one < other for one in holders for other in holders)
    assert len({frozenset(each) for each in holders}) == len(holders)


@given(comparisons())
def test_the_best_gets_the_first_letter_and_no_letter_is_skipped(case):
    values, apart = case
    letters = rank_clusters(values, apart)
    if letters:
        assert letters[int(np.argmax(values))].startswith("a")
        used = sorted(set("".join(letters)))
        assert used == [chr(ord("a") + at) for at in range(len(used))]


def test_evaluators_without_significant_differences_share_one_letter():
    assert rank_clusters([0.1, 0.5, 0.3], np.zeros((3, 3))) == ["a", "a", "a"]


def test_evaluators_that_all_differ_get_letters_by_rank():
    assert rank_clusters([0.1, 0.5, 0.3], ~np.eye(3, dtype=bool)) == ["c", "a", "b"]


def test_an_undefined_value_is_ranked_last():
    assert rank_clusters([np.nan, 0.5], ~np.eye(2, dtype=bool)) == ["b", "a"]


def test_more_groups_than_letters_get_pairs_of_letters():
    letters = rank_clusters(-np.arange(28.0), ~np.eye(28, dtype=bool))
    assert letters[25:] == ["z", "aa", "ab"]


@pytest.mark.parametrize("wrong", [np.zeros((2, 3)), np.triu(np.ones((3, 3)), 1)])
def test_asymmetric_comparisons_are_refused(wrong):
    with pytest.raises(ValueError, match="symmetric"):
        rank_clusters([1, 2, 3], wrong)
