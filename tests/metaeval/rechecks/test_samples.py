"""Drawing the summaries for a recheck, evenly over scores or at random."""

import random

from hypothesis import given
from hypothesis import strategies as st

from metaeval.rechecks.comparison import LEVEL, p_unchanged
from metaeval.rechecks.starting import PARTS, at_random, evenly_over_scores

SCORES = st.dictionaries(st.integers(1, 10_000), st.floats(-10, 10), max_size=60)


@given(SCORES, st.integers(1, 40), st.integers(0, 9), st.sampled_from([evenly_over_scores, at_random]))
def test_draw_is_reproducible_and_takes_distinct_summaries(scores, number, seed, draw):
    drawn = draw(scores, number, seed)
    assert len(set(drawn)) == len(drawn) == min(number, len(scores))
    assert set(drawn) <= scores.keys()
    assert drawn == draw(dict(reversed(scores.items())), number, seed)


@given(st.integers(0, 99))
def test_rare_scores_are_drawn(seed):
    scores = dict.fromkeys(range(500), 1.0) | {1000 + place: place / PARTS for place in range(PARTS)}
    drawn = evenly_over_scores(scores, 20, seed)
    assert {1000 + place for place in range(PARTS - 1)} <= set(drawn)


def test_other_seeds_draw_other_summaries():
    scores = {pk: pk / 100 for pk in range(100)}
    assert evenly_over_scores(scores, 10, 0) != evenly_over_scores(scores, 10, 1)
    assert at_random(scores, 10, 0) != at_random(scores, 10, 1)


def test_random_draw_is_not_biased_by_the_noise_of_first_replies():
    """About 1 in 100 unchanged noisy models may be reported as changed."""
    noise = random.Random(4)
    alarms = 0
    for seed in range(100):
        replies = {pk: [noise.gauss(0.7, 0.15) for _ in range(3)] for pk in range(400)}
        drawn = at_random({pk: first for pk, (first, *_) in replies.items()}, 20, seed)
        alarms += p_unchanged([{pk: replies[pk] for pk in drawn}], seed) < LEVEL
    assert alarms <= 5  # 1 expected; a draw evenly over the first scores gives 18
