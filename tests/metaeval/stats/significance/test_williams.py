"""Williams' test."""

import math

import numpy as np
import pytest

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.rows import Rows
from metaeval.stats.significance.compare_pairs import compare_pairs
from metaeval.stats.significance.williams import williams
from tests.metaeval.stats.evaluator_cases import golden, random_case

NAMES = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall_b"}


def test_p_values_match_golden_values(shared):
    cases, arguments = golden(shared)
    compared = 0
    for case in cases["williams"]:
        for coefficient, expected in case["expected"].items():
            found = compare_pairs("williams", case["level"], NAMES[coefficient], Rows(*arguments(case)))
            assert found.p_values[0, 1] == pytest.approx(expected["p_two-sided"], abs=1e-9)
            direct = williams(*(expected[r] for r in ("r_xz", "r_yz", "r_xy")), expected["df"] + 3)
            one_sided = min(expected["p_greater"], expected["p_less"])
            assert direct.p_value == pytest.approx(2 * one_sided, abs=1e-9)
            compared += 1
    assert compared == 12


# nlpstats takes absolute values and would find no difference between 0.4 and -0.4.
def test_correlations_keep_their_sign():
    assert williams(0.4, -0.4, 0.1, 50).p_value < 0.05


def test_equal_correlations_have_a_p_value_of_1():
    assert williams(0.4, 0.4, 1.0, 50).p_value == 1


@pytest.mark.parametrize("n", [2, 3])
def test_three_rows_are_too_few(n):
    found = williams(0.5, 0.3, 0.2, n)
    assert math.isnan(found.p_value)
    assert str(n) in found.reason


def test_three_systems_are_too_few():
    found = compare_pairs("williams", "system", "pearson", Rows(*random_case(0, systems=3)))
    assert math.isnan(found.p_values[0, 1])
    assert "more than 3" in found.reasons[0, 1]


def test_impossible_combinations_of_correlations_have_no_p_value():
    found = williams(1.0, -1.0, 1.0, 20)
    assert math.isnan(found.p_value)
    assert found.reason


def test_the_test_needs_a_single_correlation():
    found = compare_pairs("williams", "article", "pearson", Rows(*random_case(0)))
    assert math.isnan(found.p_values[0, 1])
    assert "over systems' means" in found.reasons[0, 1]


@pytest.mark.parametrize("coefficient", ["roc_auc", "acc_eq", "acc_eq_calibrated"])
def test_the_test_needs_a_correlation_coefficient(coefficient):
    found = compare_pairs("williams", "pooled", coefficient, Rows(*random_case(0, yes_no=True), yes_no=True))
    assert math.isnan(found.p_values[0, 1])
    assert COEFFICIENTS[coefficient].label in found.reasons[0, 1]


def test_n_is_the_number_of_systems_at_the_system_level():
    rng = np.random.default_rng(0)
    labels, scores = rng.normal(size=60), rng.normal(size=(2, 60))
    articles, systems = np.divmod(np.arange(60), 6)
    found = compare_pairs("williams", "system", "pearson", Rows(labels, scores, articles, systems))
    means = np.array([labels, *scores]).reshape(3, 10, 6).mean(axis=1)
    r = np.corrcoef(means)
    assert found.p_values[0, 1] == pytest.approx(williams(r[0, 1], r[0, 2], r[1, 2], 6).p_value, abs=1e-9)
