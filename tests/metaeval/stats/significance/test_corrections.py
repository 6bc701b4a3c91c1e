"""Corrections of p-values for their number."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.significance.corrections import CORRECTIONS, benjamini_hochberg, holm

P_VALUES = st.lists(st.floats(0, 1), max_size=12)


def test_the_corrections_have_the_names_that_addresses_and_commands_use():
    assert set(CORRECTIONS) == {"holm", "benjamini_hochberg"}


# By hand: 4 · 0.005, 3 · 0.01, then 2 · 0.03 and 0.04, which may not fall below it.
def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_benjamini_hochberg_by_hand():
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.02, 0.04, 0.04, 0.02])


@given(P_VALUES)
def test_holm_rejects_what_its_step_down_rule_rejects(p_values):
    adjusted = holm(p_values)
    for level in (0.01, 0.05, 0.2):
        rejected = set()
        for step, at in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
            if p_values[at] * (len(p_values) - step) > level:
                break
            rejected.add(at)
        assert set(np.flatnonzero(adjusted <= level)) == rejected


@given(P_VALUES)
def test_benjamini_hochberg_is_scipys(p_values):
    if p_values:
        expected = scipy.stats.false_discovery_control(p_values)
        np.testing.assert_allclose(benjamini_hochberg(p_values), expected, rtol=1e-12)


@pytest.mark.parametrize("correct", CORRECTIONS.values())
@given(P_VALUES)
def test_nan_stays_nan_and_is_not_counted(correct, p_values):
    alone = correct(p_values)
    beside = correct([*p_values, np.nan, np.nan])
    np.testing.assert_array_equal(beside[:-2], alone)
    assert np.isnan(beside[-2:]).all()


@pytest.mark.parametrize("correct", CORRECTIONS.values())
@given(st.lists(st.floats(0, 1), min_size=2, max_size=12))
def test_p_values_only_grow_stay_below_one_and_keep_their_order(correct, p_values):
    adjusted = correct(p_values)
    assert (adjusted >= np.array(p_values) * (1 - 1e-12)).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(p_values)]) >= 0).all()


@pytest.mark.parametrize("correct", CORRECTIONS.values())
@pytest.mark.parametrize("wrong", [-0.1, 1.1])
def test_a_number_that_is_no_p_value_is_refused(correct, wrong):
    with pytest.raises(ValueError, match="between 0 and 1"):
        correct([0.5, wrong])
