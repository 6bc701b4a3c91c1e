"""Ranks and codes of values, which must equal those found by sorting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.arrays import distinct, order_of
from metaeval.stats.groups import Groups
from metaeval.stats.ranks import midranks, value_codes

WHOLE = st.integers(-5, 12).map(float)
ANY = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)


@given(st.lists(st.one_of(WHOLE, ANY), max_size=30) | st.lists(WHOLE, max_size=30))
def test_codes_match_sorting(values):
    values = np.array(values, dtype=float)
    expected = np.unique(values, return_inverse=True)[1]
    assert value_codes(values, Groups(np.array([len(values)]))).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "values",
    [
        [-0.0, 0.0, 1.0],
        [1e300, -1e300, 1e300],
        [2.0**53, 2.0**53 + 2, 2.0**53],
        [1 - 2**-53, 1.0, -3.0, 0.0],
        [0.5, 1.0, 2.0],
    ],
)
def test_nearly_whole_and_huge_numbers_keep_separate_codes(values):
    codes = value_codes(np.array(values), Groups(np.array([len(values)])))
    assert codes.tolist() == np.unique(values, return_inverse=True)[1].tolist()


@given(st.lists(st.lists(WHOLE, min_size=1, max_size=8), min_size=1, max_size=5))
def test_groups_are_ranked_separately(groups):
    sizes = Groups(np.array([len(group) for group in groups]))
    alone = [midranks(np.array(group), Groups(np.array([len(group)]))) for group in groups]
    assert midranks(np.concatenate(groups), sizes).tolist() == np.concatenate(alone).tolist()


@given(st.lists(st.integers(-(2**40), 2**40) | st.integers(0, 2**32 + 5) | st.integers(-3, 20)))
def test_distinct_codes_and_their_order_match_sorting(codes):
    codes = np.array(codes, dtype=np.int64)
    assert distinct(codes).tolist() == np.unique(codes).tolist()
    assert order_of(codes).tolist() == np.argsort(codes, kind="stable").tolist()
