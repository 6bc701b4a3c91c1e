"""Split-half correlation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.agreement.split_half import split_half
from tests.metaeval.stats.rating_lists import columns, rated


def make_noisy(n_units, n_raters, noise, seed=0):
    """Make ratings of units with variance 1 by raters whose error has standard deviation `noise`."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal(n_units)
    values = truth[:, None] + noise * rng.standard_normal((n_units, n_raters))
    units, raters = np.divmod(np.arange(n_units * n_raters), n_raters)
    return units, raters, values.ravel()


# Halves of two ratings each: r = 1 / (1 + noise^2 / 2).
@pytest.mark.parametrize("noise", [0.5, 1.0])
def test_correlation_is_the_reliability_of_half_the_ratings(noise):
    found = split_half(*make_noisy(20_000, 4, noise), splits=3).value
    assert found == pytest.approx(1 / (1 + noise**2 / 2), abs=0.015)


def test_two_ratings_per_unit_are_correlated_with_each_other():
    units, raters, values = make_noisy(500, 2, 1.0)
    first, second = values.reshape(-1, 2).T
    assert split_half(units, raters, values).value == pytest.approx(
        np.corrcoef(first, second)[0, 1], abs=0.02
    )


@given(rated, st.integers(0, 3))
def test_splits_depend_on_the_seed_but_not_on_the_order_of_rows_units_or_raters(ratings, seed):
    first = split_half(*columns(ratings), splits=5, seed=seed)
    renamed = [(20 - unit, 30 - rater, number) for unit, rater, number in reversed(ratings)]
    again = split_half(*columns(renamed), splits=5, seed=seed)
    assert again == first or (math.isnan(first.value) and again.reason == first.reason)
    assert not abs(first.value) > 1 + 1e-12


def test_another_seed_gives_other_splits_and_is_named_in_the_definition():
    ratings = make_noisy(30, 4, 1.0)
    one, other = (split_half(*ratings, seed=seed) for seed in (0, 1))
    assert one.value != other.value
    assert "50 splits, seed 1" in other.definition
    assert "Spearman" in other.definition


def test_non_numeric_answers_are_missing():
    found = split_half([0, 0, 1, 1, 2, 2], [0, 1] * 3, [1, 1, 0, 0, 1, math.nan])
    assert (found.value, found.units, found.ratings) == (pytest.approx(1), 2, 4)
    assert found.left_out == {"summaries with fewer than two ratings": 1}


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        ([(0, 0, 1), (1, 0, 2)], "no summary has two ratings or more"),
        ([(0, 0, 1), (0, 1, 2)], "fewer than two summaries"),
        ([(unit, rater, 1) for unit in range(4) for rater in range(3)], "equal for all summaries"),
    ],
)
def test_data_that_cannot_be_correlated_are_undefined_with_a_reason(ratings, reason):
    found = split_half(*columns(ratings))
    assert math.isnan(found.value)
    assert reason in found.reason


def test_two_ratings_of_a_unit_by_one_rater_are_refused():
    with pytest.raises(ValueError, match="rater 1 rated unit 0 twice"):
        split_half([0, 0], [1, 1], [0, 1])


@pytest.mark.parametrize("factor", [1e-310, 1e-100, 1e59, 1e150])
def test_rescaled_answers_give_the_same_correlation(factor):
    ratings = [(unit, rater, (unit * 7 + rater * 3) % 5) for unit in range(8) for rater in range(3)]
    units, raters, numbers = columns(ratings)
    expected = split_half(units, raters, numbers).value
    assert split_half(units, raters, [factor * number for number in numbers]).value == pytest.approx(expected)
