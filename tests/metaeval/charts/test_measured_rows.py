"""Bars and whiskers: rows stand in their order, to scale, and say what they are in words."""

import math
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaeval.charts import Measured, evaluator_bars, interval_dots

NAN = math.nan
ROWS = [Measured("ICE", 0.4, 0.3, 0.5), Measured("ROUGE", 0.2), Measured("Length", -0.1, -0.2, 0.0)]
values = st.one_of(st.just(NAN), st.floats(-1, 1).map(lambda number: round(number, 6)))


def bars(rows=ROWS, **options):
    return ET.fromstring(evaluator_bars(rows, title="Agreement", value_title="Spearman's ρ", **options))


def dots(rows=ROWS, **options):
    return ET.fromstring(interval_dots(rows, title="Differences", value_title="ρ", **options))


def span(bar):
    left = float(bar.get("x"))
    return left, left + float(bar.get("width"))


def test_bars_start_at_chance_and_are_as_long_as_their_values():
    first, second, third = (span(bar) for bar in bars().findall("rect"))
    chance = first[0]
    assert second[0] == pytest.approx(chance, abs=0.2)
    assert third[1] == pytest.approx(chance, abs=0.2)
    assert first[1] - chance == pytest.approx(2 * (second[1] - chance), abs=0.3)
    assert chance - third[0] == pytest.approx((second[1] - chance) / 2, abs=0.3)


def test_a_whisker_reaches_from_one_end_of_the_interval_to_the_other():
    svg = bars()
    (left, right) = span(svg.find("rect"))
    x1, x2 = (float(svg.find("line[@class='whisker']").get(end)) for end in ("x1", "x2"))
    unit = (right - left) / 0.4
    assert (x1 - left, x2 - left) == (pytest.approx(0.3 * unit, abs=0.2), pytest.approx(0.5 * unit, abs=0.2))
    assert len(svg.findall("line[@class='whisker']")) == 2 * 3


def test_a_ceiling_beyond_all_values_is_within_the_drawing():
    svg = bars(ceiling=0.9)
    x = float(svg.find("line[@class='ceiling']").get("x1"))
    assert max(span(bar)[1] for bar in svg.findall("rect")) < x < 460
    assert "Ceiling, one rater: 0.900." in svg.find("desc").text
    assert any(text.text == "one rater 0.900" for text in svg.findall("text"))


def test_without_a_ceiling_there_is_no_line_for_one():
    assert bars().find("line[@class='ceiling']") is None


def test_chance_may_lie_elsewhere_than_0():
    left, right = span(bars([Measured("ICE", 0.75)], chance=0.5).find("rect"))
    left_2, right_2 = span(bars([Measured("ICE", 0.25)], chance=0.5).find("rect"))
    assert left < right
    assert left_2 < right_2


def test_each_row_is_told_with_its_interval_or_why_there_is_none():
    told = bars([*ROWS, Measured("new", NAN)], left_out="4 articles left out.").find("desc").text
    assert told == (
        "ICE: 0.400 [0.30, 0.50]; ROUGE: 0.200; Length: -0.100 [-0.20, 0.00]; new: undefined."
        " 4 articles left out."
    )


@pytest.mark.parametrize("draw", [bars, dots])
@settings(max_examples=40, deadline=None)
@given(rows=st.lists(st.tuples(values, values, values), min_size=1, max_size=12))
def test_any_values_are_drawn_within_the_frame_and_in_order(draw, rows):
    named = [Measured(f"row {place}", *row) for place, row in enumerate(rows)]
    svg = draw(named)
    for line in svg.findall("line"):
        assert all(0 <= float(line.get(end)) <= 460 for end in ("x1", "x2"))
    names = [text.text for text in svg.findall("text") if text.get("class") == "axis end"]
    assert names == [row.label for row in named]
    undefined = sum(text.text == "undefined" for text in svg.findall("text"))
    assert undefined == sum(math.isnan(row.value) for row in named)


def test_dots_stand_to_the_side_of_the_zero_line_that_their_sign_says():
    svg = dots()
    zero = float(svg.find("line[@class='ceiling']").get("x1"))
    first, second, third = (float(dot.get("cx")) for dot in svg.findall("circle"))
    assert third < zero < second < first


def test_a_long_name_is_cut_and_whole_where_one_points_at_it():
    name = "a metric with quite a long name <script>"
    text = evaluator_bars([Measured(name, 0.5)], title="x", value_title="y")
    assert "<script" not in text
    label = next(each for each in ET.fromstring(text).findall("text") if each.get("class") == "axis end")
    assert len(label.text) <= 19
    assert label.find("title").text == name
