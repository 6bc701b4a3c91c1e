"""Template filters for figures and intervals that may be undefined."""

import math

import pytest

from metaeval.stats.result import Estimate, Interval
from metaeval.templatetags.results import long_range, range_or_dash, value_or_dash


def estimate(value, reason=""):
    return Estimate(value=value, n=3, articles=2, systems=2, definition="A figure.", reason=reason)


def test_an_undefined_figure_is_a_dash_with_its_reason():
    assert value_or_dash(estimate(0.4769)) == ".477"
    assert value_or_dash(estimate(math.nan, "a < b")) == '<span title="undefined: a &lt; b">–</span>'


@pytest.mark.parametrize(
    ("interval", "short", "long"),
    [
        (Interval(-0.0221, 0.4769, "Drawn again."), "−.02 to .48", "−.022 to .477"),
        (
            Interval(math.nan, math.nan, "Drawn again.", "one article"),
            '<span title="one article">–</span>',
            '<span title="one article">no interval</span>',
        ),
    ],
)
def test_an_interval_is_written_as_its_ends_or_its_reason(interval, short, long):
    assert range_or_dash(interval) == short
    assert long_range(interval) == long


def test_an_interval_that_was_not_computed_is_a_dash():
    assert range_or_dash(None) == "–"
