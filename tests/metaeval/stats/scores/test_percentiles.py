import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import percentileofscore, rankdata

from metaeval.stats.scores.percentiles import percentile_of, percentiles, tie_ranges

NUMBERS = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30).map(np.array)


@given(NUMBERS)
def test_percentiles_match_scipy(values):
    expected = [percentileofscore(values, value, kind="mean") / 100 for value in values]
    assert percentiles(values) == pytest.approx(expected)


@given(NUMBERS)
def test_the_mean_percentile_is_one_half(values):
    assert percentiles(values).mean() == pytest.approx(0.5)


@given(NUMBERS)
def test_the_percentile_of_one_value_equals_that_among_all(values):
    assert [percentile_of(value, values) for value in values] == pytest.approx(percentiles(values))


@given(NUMBERS)
def test_tie_ranges_are_adjacent_and_centred_on_the_percentile(values):
    low, high = tie_ranges(values)
    assert (low + high) / 2 == pytest.approx(percentiles(values))
    assert low * len(values) == pytest.approx(rankdata(values, "min") - 1)
    assert high * len(values) == pytest.approx(rankdata(values, "max"))


def test_missing_values_have_no_percentile_and_do_not_count():
    found = percentiles(np.array([np.nan, 1.0, 2.0]))
    assert np.isnan(found[0])
    assert found[1:].tolist() == [0.25, 0.75]
    assert np.isnan(percentile_of(float("nan"), np.array([1.0])))


def test_no_values_give_no_percentiles():
    assert percentiles(np.array([])).tolist() == []
    assert [each.tolist() for each in tie_ranges(np.array([]))] == [[], []]


def test_values_that_cannot_be_ranked_are_refused():
    with pytest.raises(ValueError, match="finite"):
        percentiles(np.array([1.0, np.inf]))
    with pytest.raises(ValueError, match="missing"):
        tie_ranges(np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match="among"):
        percentile_of(2.0, np.array([1.0]))
