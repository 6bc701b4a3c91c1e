"""Pairs of ratings by two raters on the same unit."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.agreement.rated_pairs import pairable_ratings, rater_pairs

rated = st.dictionaries(
    st.tuples(st.integers(-3, 3), st.integers(-4, 4)), st.integers(0, 2), min_size=1, max_size=25
)


@given(rated)
def test_every_two_raters_of_a_unit_form_a_pair(ratings):
    by_unit = {}
    for unit, rater in sorted(ratings):
        by_unit.setdefault(unit, []).append(rater)
    expected = [(unit, *pair) for unit, raters in by_unit.items() for pair in combinations(raters, 2)]
    kept = pairable_ratings(*zip(*ratings, strict=True), list(ratings.values()), n_answers=3)
    pairs = rater_pairs(kept)
    found = list(
        zip(kept.units[pairs.first], kept.raters[pairs.first], kept.raters[pairs.second], strict=True)
    )
    assert sorted(found) == sorted(expected)
    names = {pair: set() for pair in range(pairs.n_pairs)}
    for (_, first, second), pair in zip(found, pairs.pair.tolist(), strict=True):
        names[pair].add((int(first), int(second)))
    assert all(len(each) == 1 for each in names.values())
    assert len(set.union(set(), *names.values())) == pairs.n_pairs
    assert kept.left_out == sum(len(raters) == 1 for raters in by_unit.values())


def test_duplicate_ratings_and_invalid_answers_are_refused():
    with pytest.raises(ValueError, match="rater 7 rated unit 3 twice"):
        pairable_ratings([3, 3], [7, 7], [0, 1], n_answers=2)
    with pytest.raises(ValueError, match=r"answers\[1\] is 2: it must lie between 0 and 1"):
        pairable_ratings([3, 3], [7, 8], [0, 2], n_answers=2)
    assert pairable_ratings(np.array([], int), [], np.array([], int), n_answers=2).n_units == 0
