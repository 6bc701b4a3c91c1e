"""Members of an experiment on several questions: dots with whiskers, grouped by question."""

import math
from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple
from xml.etree import ElementTree as ET

from metaeval.charts.measured_rows import (
    VALUES_START,
    WIDTH,
    Measured,
    below_rows,
    draw_axis,
    middles,
    row_height,
    row_name,
    row_numbers,
    rows_axis,
    told,
    whisker,
)
from metaeval.charts.parts import TITLE_LINE, Axis, dot, drawing, line, text_at, unit
from metaeval.stats.spread import Spread

ROW, HEAD, GAP = 24, 22, 10
TOP = 8
LONGEST_HEAD = 36  # characters of a line


class MemberGroup(NamedTuple):
    """One question."""

    title: str
    rows: Sequence[Measured]
    """One or more, in the order of the members."""
    spread: Spread | None = None
    """The spread over the rows, if they are repetitions."""


def member_rows(groups: Sequence[MemberGroup], *, title: str, value_title: str, left_out: str = "") -> str:
    """Return a dot with a whisker for each member; a line joins the dots of a question.

    `groups` are one or more. For repetitions, the range is shaded and the mean is a line. A value of nan is
    shown as undefined. `left_out` is a sentence for the description.
    """
    across = rows_axis(row for group in groups for row in group.rows)
    bottom = TOP + sum(map(_height, groups)) + GAP * (len(groups) - 1)
    description = f"{'. '.join(map(_told, groups))}. {left_out}".rstrip()
    height = bottom + below_rows(value_title)
    svg = drawing("members", WIDTH, height, title=title, description=description)
    draw_axis(svg, across, TOP + _head_height(groups[0]), bottom, value_title)
    y = float(TOP)
    for group in groups:
        _group(svg, across, group, y)
        y += _height(group) + GAP
    return ET.tostring(svg, encoding="unicode")


def _height(group: MemberGroup) -> int:
    return _head_height(group) + sum(row_height(row, ROW) for row in group.rows)


def _head_height(group: MemberGroup) -> int:
    return HEAD + TITLE_LINE * (len(_head_lines(group)) - 1)


def _head_lines(group: MemberGroup) -> list[str]:
    return wrap(group.title, LONGEST_HEAD) or [""]


def _group(svg: ET.Element, across: Axis, group: MemberGroup, top: float) -> None:
    for place, words in enumerate(_head_lines(group)):
        text_at(svg, "head", 4, top + 15 + TITLE_LINE * place, words)
    first = top + _head_height(group)
    if group.spread and not group.spread.reason:
        text_at(svg, "tick", VALUES_START, top + 15, _in_short(group.spread))
        _shade(svg, across, group.spread, first, top + _height(group))
    heights = [row_height(row, ROW) for row in group.rows]
    places = list(zip(group.rows, middles(heights, first), strict=True))
    ends = [(across.at(row.value), y) for row, y in places if not math.isnan(row.value)]
    joined = " ".join(f"{unit(x)},{unit(y)}" for x, y in ends)
    ET.SubElement(svg, "polyline", {"class": "joined", "points": joined})
    for row, y in places:
        row_name(svg, row, y)
        row_numbers(svg, row, y)
        if not math.isnan(row.value):
            whisker(svg, across, row, y)
            dot(svg, across.at(row.value), y, told(row))


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
