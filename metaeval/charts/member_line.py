"""Members of an experiment that are numbers, such as 1 to 8 examples, on one question: a line with a band."""

import math
from collections.abc import Sequence
from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts.measured_rows import Measured, told
from metaeval.charts.parts import Range, nice_range, plane, unit

NAMED_NUMBERS = 12
"""Members up to which each number is named along the axis."""


def member_line(
    numbers: Sequence[float],
    rows: Sequence[Measured],
    up_range: Range,
    *,
    title: str,
    across_title: str,
    up_title: str,
    left_out: str = "",
) -> str:
    """A line through the values, and a band from end to end of their intervals.

    `numbers` and `rows` are (members,), two or more, the numbers rising. `up_range` holds all values and
    ends, so that the drawings of several questions can be compared. Rows whose value is nan are passed over,
    and the band is drawn between those that have an interval. `left_out` is a sentence for the description.
    """
    svg, across, up = plane(
        "member-line",
        nice_range(np.array(numbers)) if len(numbers) > NAMED_NUMBERS else Range(numbers[0], numbers[-1]),
        up_range,
        across_title=across_title,
        up_title=up_title,
        title=title,
        description=f"{'; '.join(map(told, rows))}. {left_out}".rstrip(),
        across_ticks=None if len(numbers) > NAMED_NUMBERS else numbers,
    )
    there = [(number, row) for number, row in zip(numbers, rows, strict=True) if not math.isnan(row.value)]
    sure = [(number, row) for number, row in there if not (math.isnan(row.low) or math.isnan(row.high))]
    ends = [*((number, row.high) for number, row in sure), *((number, row.low) for number, row in sure[::-1])]
    for kind, name, places in (
        ("polygon", "band", ends),
        ("polyline", "path", [(number, row.value) for number, row in there]),
    ):
        if places:
            points = " ".join(f"{unit(across.at(x))},{unit(up.at(y))}" for x, y in places)
            ET.SubElement(svg, kind, {"class": name, "points": points})
    for number, row in there:
        dot = {"class": "bin", "cx": unit(across.at(number)), "cy": unit(up.at(row.value)), "r": "5"}
        ET.SubElement(ET.SubElement(svg, "circle", dot), "title").text = told(row)
    return ET.tostring(svg, encoding="unicode")
