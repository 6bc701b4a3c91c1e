"""Ties and distinct values among scores."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.scores.score_shape import score_shape


@given(st.lists(st.one_of(st.none(), st.integers(-3, 3)), max_size=25))
def test_shares_equal_counting_pair_by_pair(values):
    found = score_shape(np.array(values, dtype=float))
    present = [value for value in values if value is not None]
    pairs = list(itertools.combinations(present, 2))
    assert (found.n, found.missing) == (len(present), len(values) - len(present))
    assert found.distinct == len(set(present))
    if pairs:
        assert found.tied_pairs == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
        assert found.tied_scores == pytest.approx(sum(present.count(v) > 1 for v in present) / len(present))
        assert found.most_common_share == pytest.approx(present.count(found.most_common) / len(present))
        assert (found.lowest, found.highest) == (min(present), max(present))
    else:
        assert math.isnan(found.tied_pairs)


def test_no_scores_give_an_undefined_shape():
    found = score_shape([np.nan])
    assert (found.n, found.missing, found.distinct) == (0, 1, 0)
    assert math.isnan(found.tied_scores)
    assert math.isnan(found.most_common)


def test_an_infinite_score_is_refused():
    with pytest.raises(ValueError, match="scores"):
        score_shape([np.inf])
