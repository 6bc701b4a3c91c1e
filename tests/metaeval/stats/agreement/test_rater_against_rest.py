"""Each rater against the others of the same units."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from metaeval.stats.agreement.rater_against_rest import rater_against_rest
from tests.metaeval.stats.rating_lists import N_ANSWERS, columns, rated, units_of

NUMBERS = [1.0, 2.0, 4.0]


def others(unit, rater):
    return [answer for other, answer in unit.items() if other != rater]


def naive_share(units, rater):
    credits = []
    for unit in units:
        if rater in unit:
            times = Counter(others(unit, rater))
            top = [answer for answer, n in times.items() if n == max(times.values())]
            credits.append((unit[rater] in top) / len(top))
    return sum(credits) / len(credits)


def naive_correlation(units, rater):
    own = [NUMBERS[unit[rater]] for unit in units if rater in unit]
    rest = [np.mean([NUMBERS[answer] for answer in others(unit, rater)]) for unit in units if rater in unit]
    if len(own) < 2 or np.ptp(own) == 0 or np.ptp(rest) < 1e-12:
        return math.nan
    return np.corrcoef(own, rest)[0, 1]


@given(rated)
def test_without_numbers_it_is_the_share_with_the_majority(ratings):
    units = units_of(ratings)
    found = rater_against_rest(*columns(ratings), n_answers=N_ANSWERS)
    assert found.raters.tolist() == sorted({rater for unit in units for rater in unit})
    expected = [naive_share(units, rater) for rater in found.raters]
    assert found.values.tolist() == pytest.approx(expected, abs=1e-12)
    if units:
        assert found.mean.value == pytest.approx(np.average(expected, weights=found.units), abs=1e-12)


@given(rated)
def test_with_numbers_it_is_the_correlation_with_the_others_means(ratings):
    units = units_of(ratings)
    found = rater_against_rest(*columns(ratings), n_answers=N_ANSWERS, numbers=NUMBERS)
    expected = [naive_correlation(units, rater) for rater in found.raters]
    assert found.values.tolist() == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_raters_without_a_correlation_are_left_out_and_counted():
    ratings = [(unit, rater, answer) for unit in range(3) for rater, answer in ((0, unit), (1, unit), (2, 1))]
    found = rater_against_rest(*columns(ratings), n_answers=3, numbers=[0, 1, 2])
    assert found.mean.value == pytest.approx(1, abs=1e-12)
    assert found.mean.left_out == {"raters for whom it is undefined: all scores equal": 1}


def test_equal_answers_of_all_leave_no_correlation_and_say_why():
    ratings = [(unit, rater, 1) for unit in range(3) for rater in range(3)]
    found = rater_against_rest(*columns(ratings), n_answers=3, numbers=NUMBERS).mean
    assert math.isnan(found.value)
    assert found.reason == "undefined for every rater: all labels equal"
    assert rater_against_rest(*columns(ratings), n_answers=3).mean.value == 1


def test_no_common_unit_is_undefined():
    found = rater_against_rest([0, 1], [0, 1], [0, 1], n_answers=2)
    assert found.values.size == 0
    assert found.mean.reason == "no summary has two ratings or more"


def test_a_unit_rated_twice_by_one_rater_is_refused():
    with pytest.raises(ValueError, match="rater 1 rated unit 0 twice"):
        rater_against_rest([0, 0], [1, 1], [0, 1], n_answers=2)
