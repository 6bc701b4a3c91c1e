"""Rows with a name, a value and its number: bars, or dots with whiskers."""

import math
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import NamedTuple, Self
from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts.parts import (
    Axis,
    Range,
    axis_title,
    column,
    dot,
    drawing,
    extra_height,
    line,
    nice_range,
    text_at,
    ticks,
)
from metaeval.stats.result import Estimate

WIDTH = 460
ROW = 28
TOP, BOTTOM = 26, 48
NAMES_END, VALUES_START = 142, 330  # three negative numbers fit behind
LONGEST_LINE = 18  # characters of a name
NAME_LINE, NAME_GAP = 13, 8
WHISKER = 4  # units, half of the end's length
BAR = 7  # units, half of a bar's height


class Measured(NamedTuple):
    """One row: a name, a value and its interval."""

    label: str
    value: float
    """The value to draw; nan if undefined."""
    low: float = math.nan
    """End of the interval; nan if there is none."""
    high: float = math.nan

    @classmethod
    def of(cls, label: str, estimate: Estimate) -> Self:
        """Return a row of the estimate and its interval."""
        interval = estimate.interval
        ends = (interval.low, interval.high) if interval else (math.nan, math.nan)
        return cls(label, estimate.value, *ends)


def evaluator_bars(
    rows: Sequence[Measured],
    *,
    title: str,
    value_title: str,
    chance: float = 0.0,
    ceiling: float | None = None,
    ceiling_title: str = "one rater",
    left_out: str = "",
) -> str:
    """Return a bar from `chance` to each value, whiskers for intervals, and a line for a ceiling.

    `rows` are one or more, drawn in order; a value of nan is shown as undefined. `ceiling` is what a rater
    reaches, None if unknown; `ceiling_title` names it. `left_out` is a sentence on what was left out, for the
    description.
    """
    shown = [chance] if ceiling is None else [chance, ceiling]
    of_ceiling = "" if ceiling is None else f"Ceiling, {ceiling_title}: {ceiling:.3f}."
    svg, across, places = _rows("bars", rows, shown, title, value_title, f"{of_ceiling} {left_out}".strip())
    for row, y in places:
        if not math.isnan(row.value):
            left, right = sorted((across.at(chance), across.at(row.value)))
            column(svg, left, right, y - BAR, y + BAR, told(row))
            whisker(svg, across, row, y)
    lines = [(chance, "base", "chance")]
    if ceiling is not None:
        lines.append((ceiling, "ceiling", f"{ceiling_title} {ceiling:.3f}"))
    _marked_lines(svg, across, lines, rows)
    return ET.tostring(svg, encoding="unicode")


def interval_dots(
    rows: Sequence[Measured],
    *,
    title: str,
    value_title: str,
    zero: float | None = 0.0,
    zero_title: str = "no difference",
    left_out: str = "",
) -> str:
    """Return a dot for each value, whiskers for intervals, and a line at no effect.

    `rows` as for `evaluator_bars`; `zero` is None if no value is special.
    """
    shown = [] if zero is None else [zero]
    svg, across, places = _rows("intervals", rows, shown, title, value_title, left_out)
    if zero is not None:
        _marked_lines(svg, across, [(zero, "ceiling", zero_title)], rows)
    for row, y in places:
        if not math.isnan(row.value):
            whisker(svg, across, row, y)
            dot(svg, across.at(row.value), y, told(row))
    return ET.tostring(svg, encoding="unicode")


def _rows(
    kind: str,
    rows: Sequence[Measured],
    shown: Sequence[float],
    title: str,
    value_title: str,
    words: str,
) -> tuple[ET.Element, Axis, Iterator[tuple[Measured, float]]]:
    """Return the drawing, its axis, and each row with its height.

    The axis covers all values and `shown`. `words` end the description.
    """
    across = rows_axis(rows, shown)
    heights = [row_height(row, ROW) for row in rows]
    words_of_rows = "; ".join(map(told, rows))
    bottom = TOP + sum(heights)
    height = bottom + below_rows(value_title)
    svg = drawing(kind, WIDTH, height, title=title, description=f"{words_of_rows}. {words}".rstrip())
    draw_axis(svg, across, TOP, bottom, value_title)
    places = list(zip(rows, middles(heights, TOP), strict=True))
    for row, y in places:
        row_name(svg, row, y)
        row_numbers(svg, row, y)
    return svg, across, iter(places)


def rows_axis(rows: Iterable[Measured], shown: Sequence[float] = ()) -> Axis:
    """Return an axis for all values and ends of intervals, and the values `shown`."""
    numbers = np.array([*shown, *(number for row in rows for number in (row.value, row.low, row.high))])
    numbers = numbers[~np.isnan(numbers)]
    return Axis(nice_range(numbers) if len(numbers) else Range(0, 1), NAMES_END + 12, VALUES_START - 8)


def below_rows(title: str) -> int:
    """Return the height of what `draw_axis` writes below the rows."""
    return BOTTOM + extra_height(title)


def draw_axis(svg: ET.Element, across: Axis, top: float, bottom: float, title: str) -> None:
    """Draw the grid from `top` to `bottom`, its numbers below, and the title of the axis."""
    for tick in ticks(across.range):
        line(svg, "grid", across.at(tick), top, across.at(tick), bottom)
        text_at(svg, "tick middle", across.at(tick), bottom + 17, f"{tick:g}")
    axis_title(svg, (across.start + across.end) / 2, bottom + BOTTOM - 6, title)


def row_height(row: Measured, least: int) -> int:
    """Return the height of a row with room for all lines of its name."""
    return max(least, NAME_LINE * len(_name_lines(row)) + NAME_GAP)


def middles(heights: Sequence[int], top: float) -> list[float]:
    """Return the middle of each row, the first of which begins at `top`."""
    return [top + sum(heights[:place]) + height / 2 for place, height in enumerate(heights)]


def row_name(svg: ET.Element, row: Measured, y: float) -> None:
    """Write the name of a row before it, on as many lines as it needs."""
    lines = _name_lines(row)
    first = y + 4 - NAME_LINE * (len(lines) - 1) / 2
    for place, words in enumerate(lines):
        text_at(svg, "axis end", NAMES_END, first + NAME_LINE * place, words)


def row_numbers(svg: ET.Element, row: Measured, y: float) -> None:
    """Write the value and interval of a row behind it; narrow pages hide the interval."""
    number, _, interval = in_numbers(row).partition(" ")
    behind = text_at(svg, "tick", VALUES_START, y + 4, f"{number} " if interval else number)
    if interval:
        ET.SubElement(behind, "tspan", {"class": "interval"}).text = interval


def _name_lines(row: Measured) -> list[str]:
    return wrap(row.label, LONGEST_LINE) or [""]


def whisker(svg: ET.Element, across: Axis, row: Measured, y: float) -> None:
    """Draw the row's interval, if it has one."""
    if math.isnan(row.low) or math.isnan(row.high):
        return
    low, high = across.at(row.low), across.at(row.high)
    line(svg, "whisker", low, y, high, y)
    line(svg, "whisker", low, y - WHISKER, low, y + WHISKER)
    line(svg, "whisker", high, y - WHISKER, high, y + WHISKER)


def _marked_lines(
    svg: ET.Element, across: Axis, lines: Sequence[tuple[float, str, str]], rows: Sequence[Measured]
) -> None:
    """Draw vertical lines (value, class, title); two titles face away from each other."""
    bottom = TOP + sum(row_height(row, ROW) for row in rows)
    for place, (value, name, title) in enumerate(sorted(lines)):
        x = across.at(value)
        line(svg, name, x, TOP - 6, x, bottom)
        side = "middle" if len(lines) == 1 else ("end", "start")[place]
        text_at(svg, f"tick {side}", x, TOP - 11, title)


def in_numbers(row: Measured) -> str:
    """Return the value and interval as text, such as "0.412 [0.35, 0.47]"."""
    if math.isnan(row.value):
        return "undefined"
    if math.isnan(row.low) or math.isnan(row.high):
        return f"{row.value:.3f}"
    return f"{row.value:.3f} [{row.low:.2f}, {row.high:.2f}]"


def told(row: Measured) -> str:
    """Return the row as text, for a title or a description."""
    return f"{row.label}: {in_numbers(row)}"
