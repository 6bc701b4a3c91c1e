"""Marks of systems, which differ without colour while there are few."""

from xml.etree import ElementTree as ET

from metaeval.charts import legend_mark


def test_sixteen_systems_differ_in_shape_or_fill():
    marks = set()
    for system in range(16):
        (mark,) = ET.fromstring(legend_mark(system))
        marks.add((mark.get("points"), "hollow" in mark.get("class")))
    assert len(marks) == 16


def test_a_hundred_and_twenty_eight_systems_differ_in_shape_fill_or_colour():
    assert len({legend_mark(system) for system in range(128)}) == 128
