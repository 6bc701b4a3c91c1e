"""Cohen's kappa of two raters, and its mean over pairs of several raters."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.agreement.cohen_kappa import WEIGHTS, cohen_kappa
from tests.metaeval.stats.rating_lists import N_ANSWERS, columns, rated, units_of

NUMBERS = [1.0, 2.0, 4.0]


def kappa_of_table(table, **options):
    """Compute kappa from a table that counts each pair of answers."""
    answers = [
        (k, other) for k, row in enumerate(table) for other, times in enumerate(row) for _ in range(times)
    ]
    ratings = [
        (unit, rater, answer) for unit, both in enumerate(answers) for rater, answer in enumerate(both)
    ]
    return cohen_kappa(*columns(ratings), n_answers=len(table), **options)


def naive_kappa(ratings, distance):
    """Compute kappa by its definition for every pair of raters."""
    units = units_of(ratings)
    kappas = []
    for one, other in combinations(sorted({rater for unit in units for rater in unit}), 2):
        both = [(unit[one], unit[other]) for unit in units if one in unit and other in unit]
        observed = sum(distance(a, b) for a, b in both) * len(both)
        expected = sum(distance(a, b) for a, _ in both for _, b in both)
        if expected:
            kappas.append((1 - observed / expected, len(both)))
    return sum(k * n for k, n in kappas) / sum(n for _, n in kappas) if kappas else math.nan


DISTANCES = {
    "none": lambda a, b: float(a != b),
    "quadratic": lambda a, b: (NUMBERS[a] - NUMBERS[b]) ** 2,
}


# 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: P = .7, P_e = .5.
def test_kappa_of_two_raters_matches_a_worked_example():
    assert kappa_of_table([[20, 5], [10, 15]]).value == pytest.approx(0.4, abs=1e-12)


# Observed (k - l)^2: 8 times 1 and 2 times 4 of 40; expected over marginals (20, 12, 8) and (20, 12, 8):
# 2 (20*12 + 20*8*4 + 12*8) / 1600.
def test_quadratic_weights_match_a_worked_example():
    table = [[16, 3, 1], [3, 8, 1], [1, 1, 6]]
    expected = 2 * (20 * 12 + 20 * 8 * 4 + 12 * 8) / 1600
    assert kappa_of_table(table, weights="quadratic").value == pytest.approx(
        1 - (16 / 40) / expected, abs=1e-12
    )


@given(rated)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_kappa_equals_its_definition(weights, ratings):
    found = cohen_kappa(*columns(ratings), n_answers=N_ANSWERS, weights=weights, numbers=NUMBERS)
    assert found.value == pytest.approx(naive_kappa(ratings, DISTANCES[weights]), abs=1e-9, nan_ok=True)


@given(rated, st.permutations(range(5)))
@pytest.mark.parametrize("weights", WEIGHTS)
def test_rater_names_and_row_order_do_not_matter(weights, ratings, names):
    renamed = [(unit, names[rater], answer) for unit, rater, answer in reversed(ratings)]
    found, again = (
        cohen_kappa(*columns(each), n_answers=N_ANSWERS, weights=weights).value for each in (ratings, renamed)
    )
    assert again == pytest.approx(found, abs=1e-9, nan_ok=True)


def test_pairs_of_raters_are_weighted_by_their_common_units():
    ratings = [(unit, rater, unit % 2) for unit in range(6) for rater in (0, 1)]
    ratings += [(unit, 2, (unit + 1) % 2) for unit in range(2)]
    # Raters 0 and 1 agree on 6 units; both disagree with rater 2 on 2: (6 * 1 + 2 * -1 + 2 * -1) / 10.
    assert cohen_kappa(*columns(ratings), n_answers=2).value == pytest.approx(0.2, abs=1e-12)


def test_pairs_with_constant_answers_are_counted_as_left_out():
    ratings = [(unit, rater, unit % 2) for unit in range(4) for rater in (0, 1)] + [(5, 2, 1), (5, 3, 1)]
    found = cohen_kappa(*columns(ratings), n_answers=2)
    assert found.value == 1
    assert found.left_out == {"pairs of raters with the same answer throughout": 1}


def test_constant_answers_are_undefined_with_a_reason(subtests):
    """This includes numbers whose squares leave a rounding error."""
    for second in [1.3, 2.0, 2.3]:
        for weights in WEIGHTS:
            with subtests.test(weights=weights, second=second):
                found = cohen_kappa(
                    *columns([(u, r, 1) for u in range(5) for r in range(3)]),
                    n_answers=3,
                    weights=weights,
                    numbers=[1.0, second, 4.7],
                )
                assert math.isnan(found.value)
                assert "0/0" in found.reason


def test_raters_without_a_common_unit_are_undefined():
    found = cohen_kappa([0, 1], [0, 1], [0, 1], n_answers=2)
    assert math.isnan(found.value)
    assert found.reason == "no summary has two ratings or more"
    assert found.left_out == {"summaries with fewer than two ratings": 2}


def test_many_distinct_values_do_not_need_a_value_by_value_table():
    rng = np.random.default_rng(0)
    n = 20_000
    units, raters = np.repeat(np.arange(n), 2), np.tile([0, 1], n)
    for weights in ("none", "quadratic"):
        found = cohen_kappa(units, raters, rng.permutation(2 * n), n_answers=2 * n, weights=weights)
        assert abs(found.value) < 0.05


@pytest.mark.parametrize(
    ("ratings", "message"),
    [
        ([(0, 1, 0), (0, 1, 0)], "rater 1 rated unit 0 twice"),
        ([(0, 1, 3), (0, 2, 0)], r"answers\[0\] is 3: it must lie between 0 and 2"),
    ],
)
def test_invalid_ratings_are_refused(ratings, message):
    with pytest.raises(ValueError, match=message):
        cohen_kappa(*columns(ratings), n_answers=3)


def test_unknown_weights_are_refused_by_name():
    with pytest.raises(ValueError, match="'cubic' do not exist: choose from none, quadratic"):
        cohen_kappa([0, 0], [0, 1], [0, 1], n_answers=2, weights="cubic")
