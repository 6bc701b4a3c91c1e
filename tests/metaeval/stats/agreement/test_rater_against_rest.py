"""Each rater compared with the other raters of the same units."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from metaeval.stats.agreement.rater_against_rest import rater_against_rest
from tests.metaeval.stats.rating_lists import N_ANSWERS, columns, rated, units_of

NUMBERS = [1.0, 2.0, 4.0]


def answers_of_others(unit, rater):
    return [answer for other, answer in unit.items() if other != rater]


def naive_share(units, rater):
    credits = []
    for unit in units:
        if rater in unit:
            times = Counter(answers_of_others(unit, rater))
            top = [answer for answer, n in times.items() if n == max(times.values())]
            credits.append((unit[rater] in top) / len(top))
    return sum(credits) / len(credits)


def naive_correlation(units, rater):
    own = [NUMBERS[unit[rater]] for unit in units if rater in unit]
    rest = [
        np.mean([NUMBERS[answer] for answer in answers_of_others(unit, rater)])
        for unit in units
        if rater in unit
    ]
    if len(own) < 2 or np.ptp(own) == 0 or np.ptp(rest) < 1e-12:
        return math.nan
    return np.corrcoef(own, rest)[0, 1]


def naive_mean(units, of_rater):
    raters = sorted({rater for unit in units for rater in unit})
    values = np.array([of_rater(units, rater) for rater in raters])
    weights = np.array([sum(rater in unit for unit in units) for rater in raters])
    there = ~np.isnan(values)
    return np.average(values[there], weights=weights[there]) if there.any() else math.nan


@given(rated)
def test_nominal_answers_give_the_share_in_the_majority(ratings):
    found = rater_against_rest(*columns(ratings), n_answers=N_ANSWERS)
    assert found.value == pytest.approx(naive_mean(units_of(ratings), naive_share), abs=1e-12, nan_ok=True)


@given(rated)
def test_numeric_answers_give_the_correlation_with_the_others_mean(ratings):
    found = rater_against_rest(*columns(ratings), n_answers=N_ANSWERS, numbers=NUMBERS)
    expected = naive_mean(units_of(ratings), naive_correlation)
    assert found.value == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_raters_without_a_correlation_are_counted_as_left_out():
    ratings = [(unit, rater, answer) for unit in range(3) for rater, answer in ((0, unit), (1, unit), (2, 1))]
    found = rater_against_rest(*columns(ratings), n_answers=3, numbers=[0, 1, 2])
    assert found.value == pytest.approx(1, abs=1e-12)
    assert found.left_out == {"raters for whom it is undefined: all scores equal": 1}


def test_constant_answers_have_no_correlation_and_a_reason():
    ratings = [(unit, rater, 1) for unit in range(3) for rater in range(3)]
    found = rater_against_rest(*columns(ratings), n_answers=3, numbers=NUMBERS)
    assert math.isnan(found.value)
    assert found.reason == "undefined for every rater: all labels equal"
    assert rater_against_rest(*columns(ratings), n_answers=3).value == 1


def test_raters_without_a_common_unit_are_undefined():
    found = rater_against_rest([0, 1], [0, 1], [0, 1], n_answers=2)
    assert found.reason == "no summary has two ratings or more"


def test_two_ratings_of_a_unit_by_one_rater_are_refused():
    with pytest.raises(ValueError, match="rater 1 rated unit 0 twice"):
        rater_against_rest([0, 0], [1, 1], [0, 1], n_answers=2)
