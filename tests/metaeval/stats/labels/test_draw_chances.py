"""Weights of summaries, and the chance that each was drawn by now."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.labels.draw_chances import LEAST_WEIGHT, draw_chances, draw_weights

weights = st.lists(st.floats(0.2, 5), min_size=2, max_size=12).map(np.array)


def drawn(weights, uniform, n):
    """Return places, and which of them wait after n draws."""
    places = -np.expm1(np.log1p(-uniform) / weights)
    is_waiting = np.ones(len(weights), dtype=bool)
    is_waiting[np.argsort(places)[:n]] = False
    return places, is_waiting


def test_sums_over_chances_are_unbiased():
    rng = np.random.default_rng(0)
    weight, label = rng.uniform(0.3, 3, 30), rng.normal(2, 1, 30)
    label += weight  # what comes early differs from the rest
    sums = []
    for _ in range(4000):
        places, is_waiting = drawn(weight, rng.random(30), 10)
        sums.append(np.nansum(label / draw_chances(places, weight, is_waiting)))
    error = np.std(sums) / np.sqrt(len(sums))
    assert abs(np.mean(sums) - label.sum()) < 4 * error
    assert error < 0.02 * label.sum()


@given(weights, st.integers(0, 2**32 - 1), st.data())
def test_those_that_came_before_the_first_that_waits_have_a_chance(weight, seed, data):
    n = data.draw(st.integers(0, len(weight)))
    places, is_waiting = drawn(weight, np.random.default_rng(seed).random(len(weight)), n)
    chances = draw_chances(places, weight, is_waiting)
    assert (np.isnan(chances) == is_waiting).all()
    known = chances[~is_waiting]
    assert ((known > 0) & (known <= 1)).all()
    heavier_first = np.argsort(weight[~is_waiting])
    assert (np.diff(known[heavier_first]) >= 0).all()


def test_equal_weights_have_equal_chances():
    chances = draw_chances(np.array([0.1, 0.3, 0.6]), np.ones(3), np.array([False, False, True]))
    assert chances[:2] == pytest.approx([0.6, 0.6])


def test_what_was_drawn_out_of_turn_waits_for_those_before_it():
    chances = draw_chances(np.array([0.1, 0.3, 0.6]), np.ones(3), np.array([False, True, False]))
    assert np.isnan(chances[1:]).all()


def test_every_chance_is_one_once_nothing_waits():
    assert (draw_chances(np.array([0.1, 0.9]), np.array([0.2, 3]), np.zeros(2, dtype=bool)) == 1).all()


@given(st.lists(st.floats(0, 1) | st.just(np.nan), min_size=2, max_size=20).map(np.array))
def test_weights_have_a_mean_of_one_and_a_least(scores):
    doubts = scores * (1 - scores)
    if not np.nansum(doubts) > 1e-9:
        return
    found = draw_weights([scores])
    assert found.mean() == pytest.approx(1)
    assert found.min() >= LEAST_WEIGHT - 1e-12
    assert found[np.isnan(scores)] == pytest.approx(1)


def test_evaluators_that_disagree_leave_doubt_whatever_their_units():
    one, other = np.array([0.1, 0.2, 0.3, 0.4]), np.array([100.0, 200, 400, 300])
    found = draw_weights([one, other])
    assert found == pytest.approx([0.5, 0.5, 1.5, 1.5])
    assert draw_weights([one * 50 - 7, other]) == pytest.approx(found)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[0.2, 1.5]], "no chances of yes"),
        ([[0.0, 1.0, np.nan]], "no doubt"),
        ([[1.0, 2.0], [5.0, 7.0]], "no doubt"),
        ([[np.nan, np.nan]], "no doubt"),
    ],
)
def test_scores_without_doubt_are_refused(scores, message):
    arrays = [np.array(each) for each in scores]
    with pytest.raises(ValueError, match=message):
        draw_weights(arrays)
