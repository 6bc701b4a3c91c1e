"""Summaries of every height of score."""

from hypothesis import given
from hypothesis import strategies as st

from scoring.steadiness.drawing import PARTS, evenly_over_scores

SCORES = st.dictionaries(st.integers(1, 10_000), st.floats(-10, 10), max_size=60)


@given(SCORES, st.integers(1, 40), st.integers(0, 9))
def test_it_draws_as_many_different_ones_as_there_are_and_the_same_each_time(scores, number, seed):
    drawn = evenly_over_scores(scores, number, seed)
    assert len(set(drawn)) == len(drawn) == min(number, len(scores))
    assert set(drawn) <= scores.keys()
    assert drawn == evenly_over_scores(dict(reversed(scores.items())), number, seed)


@given(st.integers(0, 99))
def test_rare_scores_are_among_the_drawn(seed):
    scores = dict.fromkeys(range(500), 1.0) | {1000 + place: place / PARTS for place in range(PARTS)}
    drawn = evenly_over_scores(scores, 20, seed)
    assert {1000 + place for place in range(PARTS - 1)} <= set(drawn)


def test_another_seed_draws_others():
    scores = {pk: pk / 100 for pk in range(100)}
    assert evenly_over_scores(scores, 10, 0) != evenly_over_scores(scores, 10, 1)
