"""Row charts of an experiment's members by question, with the spread of repetitions."""

import math
from xml.etree import ElementTree as ET

import pytest

from metaeval.charts import Measured, MemberGroup, member_rows
from metaeval.stats.spread import spread

SEEDS = [Measured("0", 0.2, 0.1, 0.3), Measured("1", 0.4, 0.3, 0.5), Measured("2", 0.3, 0.2, 0.4)]


def draw(*groups):
    return ET.fromstring(member_rows(groups, title="Seeds", value_title="ρ"))


def centres(svg):
    return [(float(dot.get("cx")), float(dot.get("cy"))) for dot in svg.findall("circle")]


def test_dots_of_a_question_are_joined_in_order():
    svg = draw(MemberGroup("Fluency", SEEDS), MemberGroup("Coherence", SEEDS[:2]))
    joined = [line.get("points") for line in svg.findall("polyline")]
    found = [[tuple(map(float, point.split(","))) for point in points.split()] for points in joined]
    assert found == [centres(svg)[:3], centres(svg)[3:]]
    assert [head.text for head in svg.findall("text[@class='head']")] == ["Fluency", "Coherence"]


def test_values_and_intervals_are_drawn_to_scale():
    svg = draw(MemberGroup("Fluency", SEEDS))
    (zero, _), (one, _), (two, _) = centres(svg)
    assert one - zero == pytest.approx(2 * (two - zero), abs=0.2)
    lines = svg.findall("line[@class='whisker']")
    assert len(lines) == 3 * 3
    assert float(lines[0].get("x2")) - float(lines[0].get("x1")) == pytest.approx(one - zero, abs=0.2)


def test_repetitions_have_a_shaded_range_and_a_marked_mean():
    svg = draw(MemberGroup("Fluency", SEEDS, spread([0.2, 0.4, 0.3])))
    [band] = svg.findall("rect[@class='band']")
    xs = [x for x, _ in centres(svg)]
    assert float(band.get("x")) == min(xs)
    assert float(band.get("x")) + float(band.get("width")) == pytest.approx(max(xs), abs=0.1)
    [mean] = svg.findall("line[@class='mean-line']")
    assert float(mean.get("x1")) == pytest.approx(xs[2], abs=0.1)
    assert "mean and standard deviation 0.300 ± 0.100, range 0.200 to 0.400" in svg.find("desc").text
    assert "0.300 ± 0.100" in [text.text for text in svg.findall("text")]


def test_a_single_repetition_has_no_spread():
    svg = draw(MemberGroup("Fluency", SEEDS[:1], spread([0.2])))
    assert svg.find("rect") is None
    assert "standard deviation" not in svg.find("desc").text


def test_undefined_values_are_labelled_but_not_drawn():
    svg = draw(MemberGroup("Fluency", [SEEDS[0], Measured("1", math.nan)]))
    assert len(centres(svg)) == 1
    assert "undefined" in [text.text for text in svg.findall("text")]
    nothing = draw(MemberGroup("Fluency", [Measured("0", math.nan)]))
    assert centres(nothing) == []
    assert "Fluency: 0: undefined" in nothing.find("desc").text
