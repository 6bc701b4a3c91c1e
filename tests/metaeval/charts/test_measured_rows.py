"""Charts of bars and dots with whiskers, one row per evaluator."""

import math
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.charts import Measured, evaluator_bars, interval_dots

NAN = math.nan
ROWS = [Measured("ICE", 0.4, 0.3, 0.5), Measured("ROUGE", 0.2), Measured("Length", -0.1, -0.2, 0.0)]
values = st.one_of(st.just(NAN), st.floats(-1, 1).map(lambda number: round(number, 6)))


def bars(rows=ROWS, **options):
    return ET.fromstring(evaluator_bars(rows, title="Agreement", value_title="Spearman's ρ", **options))


def dots(rows=ROWS, **options):
    return ET.fromstring(interval_dots(rows, title="Differences", value_title="ρ", **options))


def ends_of(bar):
    left = float(bar.get("x"))
    return left, left + float(bar.get("width"))


def test_bars_start_at_chance_with_lengths_to_scale():
    first, second, third = (ends_of(bar) for bar in bars().findall("rect"))
    chance = first[0]
    assert second[0] == pytest.approx(chance, abs=0.2)
    assert third[1] == pytest.approx(chance, abs=0.2)
    assert first[1] - chance == pytest.approx(2 * (second[1] - chance), abs=0.3)
    assert chance - third[0] == pytest.approx((second[1] - chance) / 2, abs=0.3)


def test_whiskers_span_the_interval():
    svg = bars()
    (left, right) = ends_of(svg.find("rect"))
    x1, x2 = (float(svg.find("line[@class='whisker']").get(end)) for end in ("x1", "x2"))
    unit = (right - left) / 0.4
    assert (x1 - left, x2 - left) == (pytest.approx(0.3 * unit, abs=0.2), pytest.approx(0.5 * unit, abs=0.2))
    assert len(svg.findall("line[@class='whisker']")) == 2 * 3


def test_a_ceiling_above_all_values_lies_within_the_drawing():
    svg = bars(ceiling=0.9)
    x = float(svg.find("line[@class='ceiling']").get("x1"))
    assert max(ends_of(bar)[1] for bar in svg.findall("rect")) < x < 460
    assert "Ceiling, one rater: 0.900." in svg.find("desc").text
    assert any(text.text == "one rater 0.900" for text in svg.findall("text"))


def test_no_ceiling_means_no_ceiling_line():
    assert bars().find("line[@class='ceiling']") is None


def test_chance_may_differ_from_0():
    left, right = ends_of(bars([Measured("ICE", 0.75)], chance=0.5).find("rect"))
    left_2, right_2 = ends_of(bars([Measured("ICE", 0.25)], chance=0.5).find("rect"))
    assert left < right
    assert left_2 < right_2


def test_the_description_lists_each_row_with_its_interval():
    told = bars([*ROWS, Measured("new", NAN)], left_out="4 articles left out.").find("desc").text
    assert told == (
        "ICE: 0.400 [0.30, 0.50]; ROUGE: 0.200; Length: -0.100 [-0.20, 0.00]; new: undefined."
        " 4 articles left out."
    )


@pytest.mark.parametrize("draw", [bars, dots])
@given(rows=st.lists(st.tuples(values, values, values), min_size=1, max_size=12))
def test_all_rows_are_drawn_within_the_frame_and_in_order(draw, rows):
    named = [Measured(f"row {place}", *row) for place, row in enumerate(rows)]
    svg = draw(named)
    for line in svg.findall("line"):
        assert all(0 <= float(line.get(end)) <= 460 for end in ("x1", "x2"))
    names = [text.text for text in svg.findall("text") if text.get("class") == "axis end"]
    assert names == [row.label for row in named]
    undefined = sum(text.text == "undefined" for text in svg.findall("text"))
    assert undefined == sum(math.isnan(row.value) for row in named)


def test_dots_lie_left_or_right_of_the_zero_line_by_their_sign():
    svg = dots()
    zero = float(svg.find("line[@class='ceiling']").get("x1"))
    first, second, third = (float(dot.get("cx")) for dot in svg.findall("circle"))
    assert third < zero < second < first


def test_long_names_wrap_in_full_without_overlapping_the_next_row():
    name = "ROUGE-1, mean over references, stemmed, <script> against the article"
    text = evaluator_bars([Measured(name, 0.5), Measured("next", 0.4)], title="x", value_title="y")
    assert "<script" not in text
    *lines, following = (
        each for each in ET.fromstring(text).findall("text") if each.get("class") == "axis end"
    )
    assert " ".join(line.text for line in lines) == name
    assert all(len(line.text) <= 18 for line in lines)
    heights = [float(line.get("y")) for line in (*lines, following)]
    assert all(below - above >= 12 for above, below in pairwise(heights))
