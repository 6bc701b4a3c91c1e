"""Mean, standard deviation and range over repetitions."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.spread import spread


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=20))
def test_spread_uses_only_defined_values(values):
    found = spread([*values, math.nan])
    assert found.mean == pytest.approx(statistics.fmean(values), abs=1e-12)
    assert found.sd == pytest.approx(statistics.stdev(values), abs=1e-9)
    assert (found.low, found.high, found.repetitions) == (min(values), max(values), len(values))
    assert found.reason == ""


@pytest.mark.parametrize(
    ("values", "reason"),
    [([], "0 of the repetitions have a value"), ([0.3, math.nan], "1 of the repetitions has a value")],
)
def test_fewer_than_two_values_have_no_spread(values, reason):
    found = spread(values)
    assert all(math.isnan(each) for each in (found.mean, found.sd, found.low, found.high))
    assert found.reason == reason
