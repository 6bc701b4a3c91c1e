"""Williams' test."""

import math

import numpy as np
import pytest

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.significance.compare_pairs import compare_pairs
from metaeval.stats.significance.williams import williams
from tests.metaeval.stats.evaluator_cases import golden, random_case

NAMES = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall_b"}


def test_golden_values(shared):
    cases, arguments = golden(shared)
    compared = 0
    for case in cases["williams"]:
        for coefficient, expected in case["expected"].items():
            found = compare_pairs("williams", case["level"], NAMES[coefficient], *arguments(case))
            assert found.p_values[0, 1] == pytest.approx(expected["p_two-sided"], abs=1e-9)
            one_sided = williams(*(expected[r] for r in ("r_xz", "r_yz", "r_xy")), expected["df"] + 3)
            assert one_sided.t == pytest.approx(expected["t"], abs=1e-9)
            assert one_sided.p_greater == pytest.approx(expected["p_greater"], abs=1e-9)
            assert one_sided.p_less == pytest.approx(expected["p_less"], abs=1e-9)
            compared += 1
    assert compared == 12


# nlpstats takes absolute values and would find no difference between 0.4 and -0.4.
def test_correlations_keep_their_sign():
    assert williams(0.4, -0.4, 0.1, 50).p_two_sided < 0.05


def test_equal_correlations_speak_for_neither():
    assert williams(0.4, 0.4, 1.0, 50)[:4] == (0, 1, 0.5, 0.5)


def test_the_better_evaluator_has_the_small_one_sided_p_value():
    found = williams(0.7, 0.2, 0.3, 40)
    assert found.p_greater < 0.05 < found.p_less
    assert found.p_greater + found.p_less == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3])
def test_three_rows_are_too_few(n):
    found = williams(0.5, 0.3, 0.2, n)
    assert math.isnan(found.p_two_sided)
    assert str(n) in found.reason


def test_three_systems_are_too_few():
    found = compare_pairs("williams", "system", "pearson", *random_case(0, systems=3))
    assert math.isnan(found.p_values[0, 1])
    assert "more than 3" in found.reasons[0, 1]


def test_correlations_that_cannot_be_together_have_no_p_value():
    found = williams(1.0, -1.0, 1.0, 20)
    assert math.isnan(found.p_two_sided)
    assert found.reason


def test_a_mean_of_correlations_is_not_for_williams():
    found = compare_pairs("williams", "article", "pearson", *random_case(0))
    assert math.isnan(found.p_values[0, 1])
    assert "over systems' means" in found.reasons[0, 1]


@pytest.mark.parametrize("coefficient", ["roc_auc", "acc_eq", "acc_eq_calibrated"])
def test_what_is_no_correlation_is_not_for_williams(coefficient):
    found = compare_pairs("williams", "pooled", coefficient, *random_case(0, yes_no=True), yes_no=True)
    assert math.isnan(found.p_values[0, 1])
    assert COEFFICIENTS[coefficient].label in found.reasons[0, 1]


def test_n_is_the_systems_at_the_system_level():
    rng = np.random.default_rng(0)
    labels, scores = rng.normal(size=60), rng.normal(size=(2, 60))
    articles, systems = np.divmod(np.arange(60), 6)
    found = compare_pairs("williams", "system", "pearson", labels, scores, articles, systems)
    means = np.array([labels, *scores]).reshape(3, 10, 6).mean(axis=1)
    r = np.corrcoef(means)
    assert found.p_values[0, 1] == pytest.approx(williams(r[0, 1], r[0, 2], r[1, 2], 6).p_two_sided, abs=1e-9)
