"""Members of an experiment on several questions: dots with whiskers in rows, those of a question together."""

import math
from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts.measured_rows import (
    LONGEST_NAME,
    NAMES_END,
    VALUES_START,
    WIDTH,
    Measured,
    in_numbers,
    told,
    whisker,
)
from metaeval.charts.parts import Axis, Range, drawing, line, nice_range, short, text_at, ticks, unit
from metaeval.stats.spread import Spread

ROW, HEAD, GAP = 24, 22, 10
TOP, BOTTOM = 8, 48
LONGEST_HEAD = 30  # characters


class MemberGroup(NamedTuple):
    """One question."""

    title: str
    rows: Sequence[Measured]
    """One or more, in the order of the members."""
    spread: Spread | None = None
    """Over the rows, if they are repetitions."""


def member_rows(groups: Sequence[MemberGroup], *, title: str, value_title: str, left_out: str = "") -> str:
    """A dot for each member with a whisker for its interval; the dots of a question are joined by a line.

    `groups` has one or more. Of repetitions the range is shaded, with a line at their mean. A value that is
    nan says that it is undefined. `left_out` is a sentence for the description.
    """
    numbers = np.array([n for group in groups for row in group.rows for n in (row.value, row.low, row.high)])
    numbers = numbers[~np.isnan(numbers)]
    across = Axis(nice_range(numbers) if len(numbers) else Range(0, 1), NAMES_END + 12, VALUES_START - 8)
    bottom = TOP + sum(HEAD + ROW * len(group.rows) for group in groups) + GAP * (len(groups) - 1)
    description = f"{'. '.join(map(_told, groups))}. {left_out}".rstrip()
    svg = drawing("members", WIDTH, bottom + BOTTOM, title=title, description=description)
    for tick in ticks(across.range):
        line(svg, "grid", across.at(tick), TOP + HEAD, across.at(tick), bottom)
        text_at(svg, "tick middle", across.at(tick), bottom + 17, f"{tick:g}")
    text_at(svg, "axis middle", (across.start + across.end) / 2, bottom + BOTTOM - 6, short(value_title))
    y = float(TOP)
    for group in groups:
        _group(svg, across, group, y)
        y += HEAD + ROW * len(group.rows) + GAP
    return ET.tostring(svg, encoding="unicode")


def _group(svg: ET.Element, across: Axis, group: MemberGroup, top: float) -> None:
    head = text_at(svg, "head", 4, top + 15, short(group.title, LONGEST_HEAD))
    ET.SubElement(head, "title").text = group.title
    first = top + HEAD
    if group.spread and not group.spread.reason:
        text_at(svg, "tick", VALUES_START, top + 15, _in_short(group.spread))
        _shade(svg, across, group.spread, first, first + ROW * len(group.rows))
    places = [(row, first + ROW * (place + 0.5)) for place, row in enumerate(group.rows)]
    ends = [(across.at(row.value), y) for row, y in places if not math.isnan(row.value)]
    joined = " ".join(f"{unit(x)},{unit(y)}" for x, y in ends)
    ET.SubElement(svg, "polyline", {"class": "joined", "points": joined})
    for row, y in places:
        name = text_at(svg, "axis end", NAMES_END, y + 4, short(row.label, LONGEST_NAME))
        ET.SubElement(name, "title").text = row.label
        text_at(svg, "tick", VALUES_START, y + 4, in_numbers(row))
        if not math.isnan(row.value):
            whisker(svg, across, row, y)
            dot = {"class": "bin", "cx": unit(across.at(row.value)), "cy": unit(y), "r": "5"}
            ET.SubElement(ET.SubElement(svg, "circle", dot), "title").text = told(row)


def _shade(svg: ET.Element, across: Axis, spread: Spread, top: float, bottom: float) -> None:
    left, right = across.at(spread.low), across.at(spread.high)
    box = {"x": unit(left), "y": unit(top), "width": unit(right - left), "height": unit(bottom - top)}
    ET.SubElement(svg, "rect", {"class": "band", **box})
    line(svg, "mean-line", across.at(spread.mean), top, across.at(spread.mean), bottom)


def _in_short(spread: Spread) -> str:
    return f"{spread.mean:.3f} ± {spread.sd:.3f}"


def _told(group: MemberGroup) -> str:
    rows = "; ".join(map(told, group.rows))
    if group.spread is None or group.spread.reason:
        return f"{group.title}: {rows}"
    return (
        f"{group.title}: {rows}; mean and standard deviation {_in_short(group.spread)}, "
        f"range {group.spread.low:.3f} to {group.spread.high:.3f}"
    )
