"""Corrections of p-values for multiple testing."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.significance.corrections import CORRECTIONS, benjamini_hochberg, corrected_pairs, holm

P_VALUES = st.lists(st.floats(0, 1), max_size=12)


def test_correction_names_used_in_addresses_and_commands_are_stable():
    assert set(CORRECTIONS) == {"holm", "benjamini_hochberg"}


# By hand: 4 · 0.005, 3 · 0.01, 2 · 0.03; the last, 0.04, is raised to the one before.
def test_holm_matches_a_worked_example():
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_benjamini_hochberg_matches_a_worked_example():
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.02, 0.04, 0.04, 0.02])


@given(P_VALUES)
def test_holm_rejects_the_same_tests_as_its_step_down_rule(p_values):
    adjusted = holm(p_values)
    for level in (0.01, 0.05, 0.2):
        rejected = set()
        for step, at in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
            if p_values[at] * (len(p_values) - step) > level:
                break
            rejected.add(at)
        assert set(np.flatnonzero(adjusted <= level)) == rejected


@given(P_VALUES)
def test_benjamini_hochberg_matches_scipy(p_values):
    if p_values:
        expected = scipy.stats.false_discovery_control(p_values)
        np.testing.assert_allclose(benjamini_hochberg(p_values), expected, rtol=1e-12)


@pytest.mark.parametrize("correct", CORRECTIONS.values())
@given(P_VALUES)
def test_nan_stays_nan_and_does_not_count_as_a_test(correct, p_values):
    alone = correct(p_values)
    beside = correct([*p_values, np.nan, np.nan])
    np.testing.assert_array_equal(beside[:-2], alone)
    assert np.isnan(beside[-2:]).all()


@pytest.mark.parametrize("correct", CORRECTIONS.values())
@given(st.lists(st.floats(0, 1), min_size=2, max_size=12))
def test_adjusted_p_values_are_larger_at_most_1_and_in_order(correct, p_values):
    adjusted = correct(p_values)
    assert (adjusted >= np.array(p_values) * (1 - 1e-12)).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(p_values)]) >= 0).all()


def test_an_invalid_p_value_is_refused(subtests):
    for wrong in [-0.1, 1.1]:
        for correct in CORRECTIONS.values():
            with (
                subtests.test(correct=correct, wrong=wrong),
                pytest.raises(ValueError, match="between 0 and 1"),
            ):
                correct([0.5, wrong])


def test_each_pair_of_a_table_is_corrected_once():
    p_values = np.array([[np.nan, 0.01, 0.04], [0.01, np.nan, np.nan], [0.04, np.nan, np.nan]])

    corrected = corrected_pairs(p_values, "holm")

    assert corrected[0].tolist() == pytest.approx([np.nan, 0.02, 0.04], nan_ok=True)
    assert np.array_equal(corrected, corrected.T, equal_nan=True)
