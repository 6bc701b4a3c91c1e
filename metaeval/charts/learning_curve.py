"""Agreement by the number of training examples, beside what needs no training."""

import math
from collections.abc import Sequence
from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts.measured_rows import Measured, told
from metaeval.charts.parts import COLOURS, Range, dot, line, name_curves, nice_range, plane, unit

PLANE = 388  # units of the axis across
GUTTER = 12  # units at the right for the interval of each level
APART = 30  # units between two numbers along the axis, so that they do not touch


def learning_curve(
    numbers: Sequence[float],
    rows: Sequence[Measured],
    levels: Sequence[Measured],
    *,
    title: str,
    across_title: str,
    up_title: str,
    name: str,
    left_out: str = "",
) -> str:
    """Return a line with a band of intervals, and a dashed line with its interval for each level.

    `numbers` and `rows` are (shares,), one or more, numbers above 0 and ascending. `name` names their line;
    levels are named by their labels. Values of nan are skipped, and ends of nan are not drawn. `left_out` is
    a sentence for the description.
    """
    ends = [number for row in (*rows, *levels) for number in (row.value, row.low, row.high)]
    known = np.array([number for number in ends if not math.isnan(number)])
    widest = max(numbers) * PLANE / (PLANE - GUTTER * (len(levels) + 0.5))
    svg, across, up = plane(
        "learning-curve",
        Range(0.0, widest),
        nice_range(known) if len(known) else Range(0.0, 1.0),
        across_title=across_title,
        up_title=up_title,
        title=title,
        description=f"{'; '.join(map(told, (*rows, *levels)))}. {left_out}".rstrip(),
        across_ticks=_apart(numbers, widest),
    )
    there = [(number, row) for number, row in zip(numbers, rows, strict=True) if not math.isnan(row.value)]
    sure = [(number, row) for number, row in there if not math.isnan(row.low)]
    band = [*((number, row.high) for number, row in sure), *((number, row.low) for number, row in sure[::-1])]
    _draw(svg, "polygon", "band", [(across.at(x), up.at(y)) for x, y in band])
    for place, level in enumerate(levels):
        x = across.at(max(numbers)) + GUTTER * (place + 1)
        kind = f"curve series-{(place + 1) % COLOURS}"
        if not math.isnan(level.value):
            line(svg, f"{kind} level", across.start, up.at(level.value), x, up.at(level.value))
            ET.SubElement(svg[-1], "title").text = told(level)
        if not math.isnan(level.low):
            line(svg, kind, x, up.at(level.low), x, up.at(level.high))
    _draw(svg, "polyline", "curve series-0", [(across.at(x), up.at(row.value)) for x, row in there])
    for number, row in there:
        dot(svg, across.at(number), up.at(row.value), told(row))
    name_curves(svg, [name, *(level.label for level in levels)], across.start)
    return ET.tostring(svg, encoding="unicode")


def _draw(svg: ET.Element, kind: str, name: str, places: Sequence[tuple[float, float]]) -> None:
    if places:
        points = " ".join(f"{unit(x)},{unit(y)}" for x, y in places)
        ET.SubElement(svg, kind, {"class": name, "points": points})


def _apart(numbers: Sequence[float], widest: float) -> list[float]:
    """Return the largest number, and those below it that have room beside the next one."""
    shown: list[float] = []
    for number in sorted(numbers, reverse=True):
        if not shown or (shown[-1] - number) / widest * PLANE >= APART:
            shown.append(number)
    return shown[::-1]
