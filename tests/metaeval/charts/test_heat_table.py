"""Shades of table cells, and reasons for undefined ones."""

import math

from metaeval.charts.heat_table import HeatCell, HeatRow, heat, undefined_reasons


def test_the_shade_grows_in_steps_from_0_to_10(subtests):
    cases = [(0.0, 0), (1.0, 10), (0.44, 4), (-0.7, 0), (1.2, 10), (math.nan, None)]
    for value, expected in cases:
        with subtests.test(value=value, expected=expected):
            assert heat(value) == expected


def test_a_value_at_chance_has_no_shade():
    assert heat(0.5, none=0.5) == 0
    assert heat(0.75, none=0.5) == 5


def cell(value):
    return HeatCell("id", value, "n 3", heat(value), "?", False)


def test_each_reason_for_an_undefined_value_is_listed_once():
    rows = [HeatRow("a", "", [cell(math.nan), cell(0.5)]), HeatRow("b", "", [cell(math.nan), None])]
    assert undefined_reasons(rows) == ["n 3"]
