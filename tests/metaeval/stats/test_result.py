"""Results, which hold either a number or a reason."""

import math

import pytest

from metaeval.stats.result import Agreement, Estimate, Interval, NoIntervalError, or_none

ON_ESTIMATE = {"n": 2, "articles": 1, "systems": 2, "definition": "What it is."}
ON_AGREEMENT = {"units": 1, "ratings": 2, "definition": "What it is."}


@pytest.mark.parametrize(("result", "rest"), [(Estimate, ON_ESTIMATE), (Agreement, ON_AGREEMENT)])
def test_an_undefined_value_needs_a_reason(result, rest):
    with pytest.raises(ValueError, match="needs a reason"):
        result(value=math.nan, **rest)


@pytest.mark.parametrize(("result", "rest"), [(Estimate, ON_ESTIMATE), (Agreement, ON_AGREEMENT)])
def test_a_defined_value_with_a_reason_is_refused(result, rest):
    with pytest.raises(ValueError, match=r"0\.5.*all labels equal"):
        result(value=0.5, reason="all labels equal", **rest)


def test_an_interval_has_two_ends_or_a_reason():
    assert Interval.found("Drawn.", lambda: (0.1, 0.2)) == Interval(0.1, 0.2, "Drawn.")

    def refused():
        raise NoIntervalError("too few")

    none = Interval.found("Drawn.", refused)
    assert (math.isnan(none.low), math.isnan(none.high), none.reason) == (True, True, "too few")
    with pytest.raises(ValueError, match="needs a reason"):
        Interval.found("Drawn.", lambda: (0.1, math.nan))


def test_nan_becomes_none_for_json():
    assert (or_none(math.nan), or_none(0.0)) == (None, 0.0)
