"""Members of an experiment that are numbers, as a line with a band of intervals."""

import math
from collections.abc import Sequence
from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts.measured_rows import Measured, told
from metaeval.charts.parts import Range, dot, nice_range, plane, unit

NAMED_NUMBERS = 12
"""The most members with all numbers along the axis."""


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
    """Return a line through the values, with a band of their intervals.

    `numbers` and `rows` are (members,), two or more, numbers ascending. `up_range` covers all values and
    ends, so that charts of several questions can be compared. Rows with a value of nan are skipped, and rows
    without an interval leave the band. `left_out` is a sentence for the description.
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
        dot(svg, across.at(number), up.at(row.value), told(row))
    return ET.tostring(svg, encoding="unicode")
