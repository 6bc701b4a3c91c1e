"""A result is a number or a reason, never both and never neither."""

import math

import pytest

from metaeval.stats.result import Agreement, Estimate

ON_ESTIMATE = {"n": 2, "articles": 1, "systems": 2, "definition": "What it is."}
ON_AGREEMENT = {"units": 1, "ratings": 2, "definition": "What it is."}


@pytest.mark.parametrize(("result", "rest"), [(Estimate, ON_ESTIMATE), (Agreement, ON_AGREEMENT)])
def test_an_undefined_value_needs_a_reason(result, rest):
    with pytest.raises(ValueError, match="needs a reason"):
        result(value=math.nan, **rest)


@pytest.mark.parametrize(("result", "rest"), [(Estimate, ON_ESTIMATE), (Agreement, ON_AGREEMENT)])
def test_a_defined_value_has_no_reason_to_be_undefined(result, rest):
    with pytest.raises(ValueError, match=r"0\.5.*all labels equal"):
        result(value=0.5, reason="all labels equal", **rest)
