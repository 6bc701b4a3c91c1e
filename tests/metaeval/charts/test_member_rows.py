"""Members in rows, those of a question together, with the spread of repetitions."""

import math
from xml.etree import ElementTree as ET

import pytest

from metaeval.charts import Measured, MemberGroup, member_rows
from metaeval.stats.spread import spread

SEEDS = [Measured("0", 0.2, 0.1, 0.3), Measured("1", 0.4, 0.3, 0.5), Measured("2", 0.3, 0.2, 0.4)]


def drawn(*groups):
    return ET.fromstring(member_rows(groups, title="Seeds", value_title="ρ"))


def centres(svg):
    return [(float(dot.get("cx")), float(dot.get("cy"))) for dot in svg.findall("circle")]


def test_the_dots_of_a_question_are_joined_in_their_order():
    svg = drawn(MemberGroup("Fluency", SEEDS), MemberGroup("Coherence", SEEDS[:2]))
    joined = [line.get("points") for line in svg.findall("polyline")]
    found = [[tuple(map(float, point.split(","))) for point in points.split()] for points in joined]
    assert found == [centres(svg)[:3], centres(svg)[3:]]
    assert [head.text for head in svg.findall("text[@class='head']")] == ["Fluency", "Coherence"]


def test_values_lie_to_scale_with_their_intervals():
    svg = drawn(MemberGroup("Fluency", SEEDS))
    (zero, _), (one, _), (two, _) = centres(svg)
    assert one - zero == pytest.approx(2 * (two - zero), abs=0.2)
    lines = svg.findall("line[@class='whisker']")
    assert len(lines) == 3 * 3
    assert float(lines[0].get("x2")) - float(lines[0].get("x1")) == pytest.approx(one - zero, abs=0.2)


def test_of_repetitions_the_range_is_shaded_and_the_mean_marked():
    svg = drawn(MemberGroup("Fluency", SEEDS, spread([0.2, 0.4, 0.3])))
    [band] = svg.findall("rect[@class='band']")
    xs = [x for x, _ in centres(svg)]
    assert float(band.get("x")) == min(xs)
    assert float(band.get("x")) + float(band.get("width")) == pytest.approx(max(xs), abs=0.1)
    [mean] = svg.findall("line[@class='mean-line']")
    assert float(mean.get("x1")) == pytest.approx(xs[2], abs=0.1)
    assert "mean and standard deviation 0.300 ± 0.100, range 0.200 to 0.400" in svg.find("desc").text
    assert "0.300 ± 0.100" in [text.text for text in svg.findall("text")]


def test_a_single_repetition_has_no_spread():
    svg = drawn(MemberGroup("Fluency", SEEDS[:1], spread([0.2])))
    assert svg.find("rect") is None
    assert "standard deviation" not in svg.find("desc").text


def test_what_is_undefined_says_so_and_is_not_drawn():
    svg = drawn(MemberGroup("Fluency", [SEEDS[0], Measured("1", math.nan)]))
    assert len(centres(svg)) == 1
    assert "undefined" in [text.text for text in svg.findall("text")]
    nothing = drawn(MemberGroup("Fluency", [Measured("0", math.nan)]))
    assert centres(nothing) == []
    assert "Fluency: 0: undefined" in nothing.find("desc").text
