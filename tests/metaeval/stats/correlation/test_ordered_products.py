"""Sums over the ordered pairs of a sequence, computed in pieces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.correlation.ordered_products import PIECE, OrderedProducts
from metaeval.stats.groups import Groups


def sum_by_hand(first, second, own):
    places = range(len(first))
    return sum(first[i] * second[j] * (own if i == j else 1) for j in places for i in places if i <= j)


@given(
    st.lists(st.integers(1, 3 * PIECE), min_size=1, max_size=4),
    st.integers(0, 1000),
    st.sampled_from([1, 0.5]),
)
def test_every_ordered_pair_is_counted_once(sizes, seed, own):
    first, second = np.random.default_rng(seed).integers(0, 4, (2, sum(sizes), 2)).astype(float)
    products = OrderedProducts(Groups(np.array(sizes)))
    found = products.sums(first[products.order], second[products.order], own=own)
    ends = np.cumsum(sizes)
    for at, (start, end) in enumerate(zip(ends - sizes, ends, strict=True)):
        for resample in range(2):
            expected = sum_by_hand(first[start:end, resample], second[start:end, resample], own)
            assert found[at, resample] == expected


@pytest.mark.parametrize("length", [1, PIECE, PIECE + 1, PIECE**2 + 1])
def test_a_sequence_of_ones_gives_the_number_of_pairs(length):
    products = OrderedProducts(Groups(np.array([length])))
    ones = np.ones((length, 1), dtype=np.float32)
    assert products.sums(ones, ones)[0, 0] == length * (length + 1) / 2
