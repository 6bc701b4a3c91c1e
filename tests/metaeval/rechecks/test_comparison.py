"""Distances between replies, and the test for a changed model."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.rechecks.comparison import LEVEL, measure_consistency, p_unchanged, shift_of

MARKS = (0.0, 0.25, 0.5, 0.75, 1.0)
REPLIES = st.dictionaries(
    st.integers(0, 30),
    st.lists(st.sampled_from([None, *MARKS]), min_size=3, max_size=3),
    max_size=15,
)


def test_spread_of_a_small_example():
    found = measure_consistency({1: [0.5, 0.5, 0.5], 2: [0.0, 0.5, 1.0], 3: [0.5, None, 0.5], 4: [None] * 3})
    assert (found.summaries, found.unscored) == (2, 1)
    assert found.identical == 0.5
    assert found.difference == pytest.approx((0 + (0.5 + 1 + 0.5) / 3) / 2)
    assert found.deviation == pytest.approx((0.25 / 2) ** 0.5)


@given(REPLIES)
def test_spread_is_0_exactly_if_all_replies_are_identical(replies):
    found = measure_consistency(replies)
    if found.summaries == 0:
        assert found.identical is found.difference is found.deviation is None
    else:
        assert (found.identical == 1) == (found.difference == 0) == (found.deviation == 0)


@given(REPLIES, st.randoms())
def test_spread_does_not_depend_on_the_order_of_replies(replies, draw):
    shuffled = {key: draw.sample(each, len(each)) for key, each in replies.items()}
    one, two = measure_consistency(replies), measure_consistency(shuffled)
    assert (one.summaries, one.unscored, one.identical) == (two.summaries, two.unscored, two.identical)
    assert one.difference == pytest.approx(two.difference)
    assert one.deviation == pytest.approx(two.deviation)


def test_shift_of_a_small_example():
    found = shift_of({1: [0.0, 0.5, 0.5], 2: [0.5, 0.5, 1.0], 3: [0.5, None, 0.5], 4: [None, 1.0, 1.0]})
    assert (found.summaries, found.lost) == (2, 1)
    assert found.changed == 0.5
    assert found.difference == pytest.approx(0.375)
    # t(.975, 1) = 12.706 times the standard error, .125
    assert (found.low, found.high) == pytest.approx((0.375 - 1.5883, 0.375 + 1.5883), abs=1e-3)


@given(st.lists(REPLIES, min_size=1, max_size=3))
def test_identical_replies_have_not_changed(by_dimension):
    same = [{key: [each[0]] * 3 for key, each in replies.items()} for replies in by_dimension]
    assert p_unchanged(same) == 1
    assert 0 < p_unchanged(by_dimension) <= 1


def test_changed_model_is_detected_with_and_without_noise():
    draw = random.Random(1)
    assert p_unchanged([{key: [0.5, 0.75, 0.75] for key in range(5)}]) < LEVEL
    noisy = {key: [draw.gauss(0.4, 0.05), *(draw.gauss(0.6, 0.05) for _ in range(2))] for key in range(20)}
    assert p_unchanged([noisy]) < LEVEL


def test_change_with_an_equal_mean_is_detected():
    replies = {key: [0.5, 1.0, 1.0] if key % 2 else [0.5, 0.0, 0.0] for key in range(20)}
    assert shift_of(replies).difference == 0
    assert p_unchanged([replies]) < LEVEL


def test_small_shift_in_one_direction_is_detected_through_noise():
    draw = random.Random(2)
    replies = {key: [draw.gauss(0.5, 0.1), *(draw.gauss(0.63, 0.1) for _ in range(2))] for key in range(20)}
    assert p_unchanged([replies]) < LEVEL


def test_dimensions_with_different_scales_have_equal_weight():
    moved = {key: [key / 20, *[key / 20 + 0.3] * 2] for key in range(8)}
    large = {key: [float(key), *[float(key)] * 2] for key in range(8)}
    scaled = {key: [1000 * reply for reply in each] for key, each in moved.items()}
    assert p_unchanged([moved, large]) == p_unchanged([scaled, large])


def test_model_without_scores_is_detected():
    assert p_unchanged([{key: [0.5, None, None] for key in range(20)}]) < LEVEL


def test_three_of_twenty_changed_replies_are_no_change():
    replies = {key: [0.5, 0.75, 0.75] if key < 3 else [0.5] * 3 for key in range(20)}
    assert p_unchanged([replies]) > LEVEL


def test_noise_alone_is_no_change():
    """About 1 in 100 unchanged models may be reported as changed."""
    draw = random.Random(7)
    alarms = sum(
        p_unchanged([{key: [draw.gauss(0.5, 0.2) for _ in range(3)] for key in range(20)}], seed) < LEVEL
        for seed in range(200)
    )
    assert alarms <= 7  # 2 expected; 8 or more have a probability of .001


def test_one_new_reply_is_not_enough():
    with pytest.raises(ValueError, match="two or more new replies"):
        p_unchanged([{1: [0.5, 0.5]}])
