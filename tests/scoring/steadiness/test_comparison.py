"""Distances between replies, and whether later ones are of another kind."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.steadiness.comparison import LEVEL, p_unchanged, shift_of, steadiness_of

MARKS = (0.0, 0.25, 0.5, 0.75, 1.0)
REPLIES = st.dictionaries(
    st.integers(0, 30),
    st.lists(st.sampled_from([None, *MARKS]), min_size=3, max_size=3),
    max_size=15,
)


def test_known_spread():
    found = steadiness_of({1: [0.5, 0.5, 0.5], 2: [0.0, 0.5, 1.0], 3: [0.5, None, 0.5], 4: [None] * 3})
    assert (found.summaries, found.unscored) == (2, 1)
    assert found.identical == 0.5
    assert found.difference == pytest.approx((0 + (0.5 + 1 + 0.5) / 3) / 2)
    assert found.deviation == pytest.approx((0.25 / 2) ** 0.5)


@given(REPLIES)
def test_spread_is_nothing_exactly_where_all_are_identical(replies):
    found = steadiness_of(replies)
    if found.summaries == 0:
        assert found.identical is found.difference is found.deviation is None
    else:
        assert (found.identical == 1) == (found.difference == 0) == (found.deviation == 0)


@given(REPLIES, st.randoms())
def test_spread_does_not_depend_on_the_order_of_replies(replies, draw):
    shuffled = {key: draw.sample(each, len(each)) for key, each in replies.items()}
    one, two = steadiness_of(replies), steadiness_of(shuffled)
    assert (one.summaries, one.unscored, one.identical) == (two.summaries, two.unscored, two.identical)
    assert one.difference == pytest.approx(two.difference)
    assert one.deviation == pytest.approx(two.deviation)


def test_known_shift():
    found = shift_of({1: [0.0, 0.5, 0.5], 2: [0.5, 0.5, 1.0], 3: [0.5, None, 0.5], 4: [None, 1.0, 1.0]})
    assert (found.summaries, found.lost) == (2, 1)
    assert found.changed == 0.5
    assert found.difference == pytest.approx(0.375)
    # t(.975, 1) = 12.706 times the standard error, .125
    assert (found.low, found.high) == pytest.approx((0.375 - 1.5883, 0.375 + 1.5883), abs=1e-3)


@settings(max_examples=20)
@given(st.lists(REPLIES, min_size=1, max_size=3))
def test_replies_that_are_all_the_same_have_not_changed(by_dimension):
    same = [{key: [each[0]] * 3 for key, each in replies.items()} for replies in by_dimension]
    assert p_unchanged(same) == 1
    assert 0 < p_unchanged(by_dimension) <= 1


def test_a_model_that_moved_is_noticed_without_noise_and_with():
    draw = random.Random(1)
    assert p_unchanged([{key: [0.5, 0.75, 0.75] for key in range(5)}]) < LEVEL
    noisy = {key: [draw.gauss(0.4, 0.05), *(draw.gauss(0.6, 0.05) for _ in range(2))] for key in range(20)}
    assert p_unchanged([noisy]) < LEVEL


def test_a_change_that_leaves_the_mean_alone_is_noticed():
    replies = {key: [0.5, 1.0, 1.0] if key % 2 else [0.5, 0.0, 0.0] for key in range(20)}
    assert shift_of(replies).difference == 0
    assert p_unchanged([replies]) < LEVEL


def test_a_small_move_in_one_direction_is_noticed_through_noise():
    draw = random.Random(2)
    replies = {key: [draw.gauss(0.5, 0.1), *(draw.gauss(0.63, 0.1) for _ in range(2))] for key in range(20)}
    assert p_unchanged([replies]) < LEVEL


def test_dimensions_of_different_scales_weigh_the_same():
    moved = {key: [key / 20, *[key / 20 + 0.3] * 2] for key in range(8)}
    large = {key: [float(key), *[float(key)] * 2] for key in range(8)}
    scaled = {key: [1000 * reply for reply in each] for key, each in moved.items()}
    assert p_unchanged([moved, large]) == p_unchanged([scaled, large])


def test_a_model_that_gives_no_scores_any_more_is_noticed():
    assert p_unchanged([{key: [0.5, None, None] for key in range(20)}]) < LEVEL


def test_a_few_other_replies_of_twenty_are_no_change():
    replies = {key: [0.5, 0.75, 0.75] if key < 3 else [0.5] * 3 for key in range(20)}
    assert p_unchanged([replies]) > LEVEL


def test_noise_of_its_own_is_no_change():
    """Of 200 models that have not changed, about one in a hundred may be taken for changed."""
    draw = random.Random(7)
    alarms = sum(
        p_unchanged([{key: [draw.gauss(0.5, 0.2) for _ in range(3)] for key in range(20)}], seed) < LEVEL
        for seed in range(200)
    )
    assert alarms <= 7  # 2 expected; 8 or more once in a thousand times


def test_one_new_reply_is_not_enough():
    with pytest.raises(ValueError, match="two new replies or more"):
        p_unchanged([{1: [0.5, 0.5]}])
