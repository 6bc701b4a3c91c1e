"""Values in rows, each with its name before it and its number behind it: bars, or dots with whiskers."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self
from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts.parts import Axis, Range, column, drawing, line, nice_range, short, text_at, ticks, unit
from metaeval.stats.result import Estimate

WIDTH = 460
ROW = 28
TOP, BOTTOM = 26, 48
NAMES_END, VALUES_START = 142, 330  # three negative numbers fit behind
LONGEST_NAME = 18  # characters
WHISKER = 4  # units, half of the end's length
BAR = 7  # units, half of a bar's height


class Measured(NamedTuple):
    """One row."""

    label: str
    value: float
    """nan if undefined."""
    low: float = math.nan
    """End of the interval; nan if there is none."""
    high: float = math.nan

    @classmethod
    def of(cls, label: str, estimate: Estimate) -> Self:
        """With the ends of the estimate's interval, if it has one."""
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
    """A bar for each evaluator from `chance` to its value, a whisker for its interval, a line for a ceiling.

    `rows` has one row or more, drawn in their order; a row whose value is nan says that it is undefined.
    `ceiling` is what a rater reaches, None if not known; `ceiling_title` names it. `left_out` is a sentence
    on what was left out, for the description.
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
    _marked_lines(svg, across, lines, len(rows))
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
    """A dot for each value with a whisker for its interval, and a line where there would be no effect.

    `rows` as for `evaluator_bars`; `zero` is None where no value is special.
    """
    shown = [] if zero is None else [zero]
    svg, across, places = _rows("intervals", rows, shown, title, value_title, left_out)
    if zero is not None:
        _marked_lines(svg, across, [(zero, "ceiling", zero_title)], len(rows))
    for row, y in places:
        if not math.isnan(row.value):
            whisker(svg, across, row, y)
            dot = {"class": "bin", "cx": unit(across.at(row.value)), "cy": unit(y), "r": "5"}
            ET.SubElement(ET.SubElement(svg, "circle", dot), "title").text = told(row)
    return ET.tostring(svg, encoding="unicode")


def _rows(
    kind: str,
    rows: Sequence[Measured],
    shown: Sequence[float],
    title: str,
    value_title: str,
    words: str,
) -> tuple[ET.Element, Axis, Iterator[tuple[Measured, float]]]:
    """The drawing with names, numbers and the axis, which holds all values and those of `shown`; the axis;
    and each row with its height. `words` end the description."""
    numbers = np.array([*shown, *(number for row in rows for number in (row.value, row.low, row.high))])
    numbers = numbers[~np.isnan(numbers)]
    across = Axis(nice_range(numbers) if len(numbers) else Range(0, 1), NAMES_END + 12, VALUES_START - 8)
    height = TOP + ROW * len(rows) + BOTTOM
    words_of_rows = "; ".join(map(told, rows))
    svg = drawing(kind, WIDTH, height, title=title, description=f"{words_of_rows}. {words}".rstrip())
    bottom = TOP + ROW * len(rows)
    for tick in ticks(across.range):
        line(svg, "grid", across.at(tick), TOP, across.at(tick), bottom)
        text_at(svg, "tick middle", across.at(tick), bottom + 17, f"{tick:g}")
    text_at(svg, "axis middle", (across.start + across.end) / 2, height - 6, short(value_title))
    places = [(row, TOP + ROW * (place + 0.5)) for place, row in enumerate(rows)]
    for row, y in places:
        name = text_at(svg, "axis end", NAMES_END, y + 4, short(row.label, LONGEST_NAME))
        ET.SubElement(name, "title").text = row.label
        number, _, interval = in_numbers(row).partition(" ")
        behind = text_at(svg, "tick", VALUES_START, y + 4, f"{number} " if interval else number)
        if interval:
            ET.SubElement(behind, "tspan", {"class": "interval"}).text = interval
    return svg, across, iter(places)


def whisker(svg: ET.Element, across: Axis, row: Measured, y: float) -> None:
    """The row's interval, if it has one."""
    if math.isnan(row.low) or math.isnan(row.high):
        return
    low, high = across.at(row.low), across.at(row.high)
    line(svg, "whisker", low, y, high, y)
    line(svg, "whisker", low, y - WHISKER, low, y + WHISKER)
    line(svg, "whisker", high, y - WHISKER, high, y + WHISKER)


def _marked_lines(svg: ET.Element, across: Axis, lines: Sequence[tuple[float, str, str]], rows: int) -> None:
    """Upright lines (value, class, title); of two, the titles turn away from each other."""
    for place, (value, name, title) in enumerate(sorted(lines)):
        x = across.at(value)
        line(svg, name, x, TOP - 6, x, TOP + ROW * rows)
        side = "middle" if len(lines) == 1 else ("end", "start")[place]
        text_at(svg, f"tick {side}", x, TOP - 11, title)


def in_numbers(row: Measured) -> str:
    """Such as "0.412 [0.35, 0.47]"."""
    if math.isnan(row.value):
        return "undefined"
    if math.isnan(row.low) or math.isnan(row.high):
        return f"{row.value:.3f}"
    return f"{row.value:.3f} [{row.low:.2f}, {row.high:.2f}]"


def told(row: Measured) -> str:
    """The row in words, for a title or a description."""
    return f"{row.label}: {in_numbers(row)}"
