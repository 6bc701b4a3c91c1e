"""Krippendorff's alpha."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.agreement.krippendorff import SCALES, krippendorff_alpha
from tests.metaeval.stats.rating_lists import counts_of


def alpha_of(units, scale):
    """Compute alpha from lists of ratings; None is a missing rating, as in the golden file."""
    numbers = sorted({rating for unit in units for rating in unit if rating is not None})
    rated = [(unit, rating) for unit, ratings in enumerate(units) for rating in ratings if rating is not None]
    counts = counts_of(
        [unit for unit, _ in rated],
        [numbers.index(rating) for _, rating in rated],
        n_units=len(units),
        n_answers=len(numbers),
    )
    return krippendorff_alpha(counts, scale, numbers)


units_of_ratings = st.lists(
    st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=1, max_size=5), min_size=1, max_size=15
)


# By hand: o_01 + o_10 = 2, n_0 = n_1 = 3, n = 6, e_01 + e_10 = 2 * 9 / 5; alpha = 1 - 2 / 3.6.
def test_two_answers_match_a_worked_example_on_every_scale():
    for scale in SCALES:
        assert krippendorff_alpha([[2, 0], [0, 2], [1, 1]], scale, [0, 1]).value == pytest.approx(4 / 9)


# By hand, units (1, 1), (2, 2), (1, 4): n_1 = 3, n_2 = 2, n_4 = 1, n = 6.
# nominal: observed 2, expected 2 (3*2 + 3*1 + 2*1) / 5 = 22/5.
# interval: observed 2 * 9, expected 2 (6*1 + 3*9 + 2*4) / 5 = 82/5.
# ordinal: d(1,2) = 2.5^2, d(1,4) = 4^2, d(2,4) = 1.5^2; observed 2 * 16, expected 2 (37.5 + 48 + 4.5) / 5.
@pytest.mark.parametrize(
    ("scale", "expected"),
    [("nominal", 1 - 2 / (22 / 5)), ("interval", 1 - 18 / (82 / 5)), ("ordinal", 1 - 32 / 36)],
)
def test_three_answers_match_a_worked_example(scale, expected):
    alpha = krippendorff_alpha([[2, 0, 0], [0, 2, 0], [1, 0, 1]], scale, [1, 2, 4])
    assert alpha.value == pytest.approx(expected, abs=1e-12)


def test_alpha_reports_sample_size_and_exclusions():
    alpha = krippendorff_alpha([[2, 0], [1, 2], [1, 0], [0, 0]], "nominal")
    assert (alpha.units, alpha.ratings) == (2, 5)
    assert alpha.left_out == {"summaries with fewer than two ratings": 2}
    assert alpha.reason == ""


def test_the_definition_names_the_scale():
    for scale in SCALES:
        assert f"({scale})" in krippendorff_alpha([[1, 1]], scale, [0, 1]).definition


def test_constant_answers_are_undefined(subtests):
    for scale in SCALES:
        with subtests.test(scale=scale):
            alpha = krippendorff_alpha([[3, 0], [2, 0], [0, 1]], scale, [0, 1])
            assert math.isnan(alpha.value)
            assert "same answer" in alpha.reason
            assert (alpha.units, alpha.ratings) == (2, 5)


def test_no_summary_with_two_ratings_is_undefined(subtests):
    for counts in [[[1, 0], [0, 1]], [[0, 0]], np.zeros((0, 2), dtype=int)]:
        for scale in SCALES:
            with subtests.test(scale=scale, counts=counts):
                alpha = krippendorff_alpha(counts, scale, [0, 1])
                assert math.isnan(alpha.value)
                assert alpha.reason == "no summary has two ratings or more"
                assert (alpha.units, alpha.ratings) == (0, 0)


def test_an_unknown_scale_is_refused_by_name():
    with pytest.raises(ValueError, match=r"'ratio' does not exist: choose from nominal, ordinal, interval"):
        krippendorff_alpha([[1, 1]], "ratio")


def test_the_interval_scale_refuses_invalid_numbers(subtests):
    cases = [
        (None, "needs the number that each answer stands for"),
        ([1, 2, 3], "one number for each of the 2 answers, not 3"),
        ([2, 1], r"ascend with the answers, not \[2\.0, 1\.0\]"),
        ([1, 1], "ascend"),
        ([1, math.nan], "ascend"),
        ([1, math.inf], r"numbers\[1\] is inf"),
    ]
    for numbers, message in cases:
        with subtests.test(numbers=numbers, message=message), pytest.raises(ValueError, match=message):
            krippendorff_alpha([[1, 1]], "interval", numbers)


def test_the_ordinal_scale_refuses_answers_out_of_order():
    with pytest.raises(ValueError, match="ascend"):
        krippendorff_alpha([[1, 1]], "ordinal", [5, 1])


@given(units_of_ratings, st.randoms(use_true_random=False))
@pytest.mark.parametrize("scale", SCALES)
def test_the_order_of_raters_and_units_does_not_matter(scale, units, random):
    shuffled = [random.sample(unit, len(unit)) for unit in units]
    random.shuffle(shuffled)
    expected = alpha_of(units, scale).value
    assert alpha_of(shuffled, scale).value == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(units_of_ratings)
@pytest.mark.parametrize("scale", SCALES)
def test_units_with_one_rating_do_not_matter(scale, units):
    expected = alpha_of(units, scale).value
    assert alpha_of([*units, [3], [None, 1]], scale).value == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(units_of_ratings, st.integers(1, 9), st.integers(-9, 9))
def test_interval_alpha_ignores_scale_and_offset(units, factor, offset):
    moved = [[None if r is None else r * factor + offset for r in unit] for unit in units]
    expected = alpha_of(units, "interval").value
    assert alpha_of(moved, "interval").value == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(units_of_ratings)
def test_ordinal_alpha_ignores_distances_between_numbers(units):
    cubed = [[None if r is None else r**3 for r in unit] for unit in units]
    expected = alpha_of(units, "ordinal").value
    assert alpha_of(cubed, "ordinal").value == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(units_of_ratings)
@pytest.mark.parametrize("scale", SCALES)
def test_alpha_is_at_most_1_and_defined_when_comparable_ratings_differ(scale, units):
    comparable = [[r for r in unit if r is not None] for unit in units]
    comparable = [unit for unit in comparable if len(unit) > 1]
    answers = {rating for unit in comparable for rating in unit}
    alpha = alpha_of(units, scale)
    assert math.isnan(alpha.value) == (len(answers) < 2)
    assert not alpha.value > 1
    if all(len(set(unit)) == 1 for unit in comparable) and len(answers) > 1:
        assert alpha.value == 1


@pytest.mark.parametrize("scale", SCALES)
def test_alpha_matches_golden_values(shared, scale):
    cases = json.loads((shared / "golden" / "metaeval.json").read_text())["alpha"]
    assert len(cases) >= 11
    for case in cases:
        alpha = alpha_of(case["units"], scale)
        expected = case["expected"]
        assert alpha.value == pytest.approx(
            math.nan if expected[scale] is None else expected[scale], abs=1e-9, nan_ok=True
        ), case["name"]
        assert alpha.units == expected["pairwise_agreement"]["pairable_units"], case["name"]
        assert alpha.ratings == expected["pairable_values"], case["name"]
        assert bool(alpha.reason) == (expected[scale] is None), case["name"]


@given(units_of_ratings, st.permutations([1, 2, 3, 4, 5]))
def test_names_of_nominal_answers_are_irrelevant(units, names):
    renamed = [[None if rating is None else names[rating - 1] for rating in unit] for unit in units]
    expected = alpha_of(units, "nominal").value
    assert alpha_of(renamed, "nominal").value == pytest.approx(expected, abs=1e-9, nan_ok=True)
