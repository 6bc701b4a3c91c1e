"""Line charts of experiments whose members are numbers, with a band for intervals."""

import math
from xml.etree import ElementTree as ET

import pytest

from metaeval.charts import Measured, Range, member_line

ROWS = [
    Measured("1", 0.1, 0.0, 0.2),
    Measured("2", 0.2, 0.1, 0.3),
    Measured("4", 0.4, 0.3, 0.5),
]


def draw(numbers=(1.0, 2.0, 4.0), rows=ROWS):
    text = member_line(numbers, rows, Range(0, 0.5), title="Examples", across_title="examples", up_title="ρ")
    return ET.fromstring(text)


def points(element):
    return [tuple(map(float, point.split(","))) for point in element.get("points").split()]


def test_the_line_passes_through_all_values_to_scale():
    svg = draw()
    path = points(svg.find("polyline[@class='path']"))
    dots = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in svg.findall("circle")]
    assert path == dots
    (x1, y1), (x2, y2), (x4, y4) = path
    assert x4 - x1 == pytest.approx(3 * (x2 - x1), abs=0.3)
    assert y1 - y4 == pytest.approx(3 * (y1 - y2), abs=0.3)


def test_the_band_follows_the_upper_and_lower_ends_of_the_intervals():
    svg = draw()
    band = points(svg.find("polygon[@class='band']"))
    xs = [x for x, _ in points(svg.find("polyline[@class='path']"))]
    assert [x for x, _ in band] == [*xs, *xs[::-1]]
    uppers, lowers = band[:3], band[3:][::-1]
    assert all(upper[1] < lower[1] for upper, lower in zip(uppers, lowers, strict=True))


def test_the_axis_labels_few_numbers_all_and_many_numbers_sparsely():
    assert {"1", "2", "4"} <= {text.text for text in draw().findall("text")}
    assert "3" not in {text.text for text in draw().findall("text")}
    numbers = [float(number) for number in range(1, 31)]
    many = draw(numbers, [Measured(str(number), 0.2) for number in numbers])
    assert len(many.findall("text[@class='tick middle']")) < 12


def test_undefined_values_and_intervals_are_skipped():
    svg = draw(rows=[ROWS[0], Measured("2", math.nan), Measured("4", 0.4)])
    assert len(svg.findall("circle")) == 2
    assert len(points(svg.find("polygon[@class='band']"))) == 2
    assert "2: undefined" in svg.find("desc").text
    without = draw(rows=[Measured(name, 0.2) for name in "124"])
    assert without.find("polygon") is None
