"""Parts of charts: axes with round numbers, and SVG elements."""

import math
from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from metaeval.stats.arrays import Floats

LETTER = 7.6  # units that a letter takes at the largest size that a page gives it
TITLE_LINE = 16  # units from one line of a title to the next
LONGEST_TITLE, LONGEST_TURNED = 48, 40  # characters of a line along an axis, across and up
COLOURS = 8  # of curves, which the classes series-0 to series-7 give
NAME_LINE = 18  # units from one curve's name to the next
NAME_MARK, NAME_GAP = 22, 8  # units of the line before a curve's name, and from it to the name
EDGE = 8  # units around points, so that none lies on the frame


class Range(NamedTuple):
    low: float
    high: float


class Axis(NamedTuple):
    """A map from values to units of the drawing."""

    range: Range
    start: float
    end: float

    def place(self, values: Floats) -> Floats:
        """Return the positions of values in the drawing."""
        share = (values - self.range.low) / (self.range.high - self.range.low)
        return self.start + share * (self.end - self.start)

    def at(self, value: float) -> float:
        return float(self.place(np.array([value]))[0])


def nice_range(values: Floats) -> Range:
    """Return round numbers around all values, (n,) with n of 1 or more."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        reach = abs(low) / 2 or 0.5
        low, high = low - reach, high + reach
    step = _nice_step((high - low) / 5)
    return Range(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step)


def ticks(span: Range, about: int = 5) -> list[float]:
    """Return about `about` round numbers from one end of the range to the other."""
    step = _nice_step((span.high - span.low) / about)
    first = math.ceil(span.low / step - 1e-9)
    last = math.floor(span.high / step + 1e-9)
    return [float(f"{number * step:.10g}") for number in range(first, last + 1)]


def _nice_step(about: float) -> float:
    """Return 1, 2 or 5 times a power of ten: `about` or the next larger."""
    magnitude = 10.0 ** math.floor(math.log10(about))
    return next(
        (factor * magnitude for factor in (1, 2, 5) if factor * magnitude >= about * 0.999), 10 * magnitude
    )


def drawing(kind: str, width: int, height: int, *, title: str, description: str) -> ET.Element:
    svg = ET.Element(
        "svg",
        {"class": f"chart {kind}", "viewBox": f"0 0 {width} {height}", "role": "img", "aria-label": title},
    )
    ET.SubElement(svg, "title").text = title
    ET.SubElement(svg, "desc").text = description
    return svg


def plane(
    kind: str,
    across_range: Range,
    up_range: Range,
    *,
    across_title: str,
    up_title: str,
    title: str,
    description: str,
    across_ticks: Sequence[float] | None = None,
) -> tuple[ET.Element, Axis, Axis]:
    """Return a drawing with two numeric axes, grid and titles, and the axes, across and up.

    `across_ticks` replaces the round numbers of the axis across.
    """
    width, height = 460, 380
    up_lines = wrap(up_title, LONGEST_TURNED)
    before = 48 + TITLE_LINE * max(0, len(up_lines) - 1)
    svg = drawing(kind, width, height + extra_height(across_title), title=title, description=description)
    across = Axis(across_range, before + EDGE, width - 8 - EDGE)
    up = Axis(up_range, height - 44 - EDGE, 6 + EDGE)
    for tick in ticks(across.range) if across_ticks is None else across_ticks:
        x = across.at(tick)
        line(svg, "grid", x, up.start + EDGE, x, up.end - EDGE)
        text_at(svg, "tick middle", x, up.start + EDGE + 18, f"{tick:g}")
    for tick in ticks(up.range):
        y = up.at(tick)
        line(svg, "grid", across.start - EDGE, y, across.end + EDGE, y)
        text_at(svg, "tick end", across.start - EDGE - 8, y + 4, f"{tick:g}")
    axis_title(svg, (across.start + across.end) / 2, height - 6, across_title)
    for place, words in enumerate(up_lines):
        turned = text_at(svg, "axis middle", 0, 0, words)
        x = 15 + TITLE_LINE * place
        turned.set("transform", f"translate({x} {(up.start + up.end) / 2:g}) rotate(-90)")
    return svg, across, up


def line(parent: ET.Element, name: str, x1: float, y1: float, x2: float, y2: float) -> None:
    ends = {"x1": unit(x1), "y1": unit(y1), "x2": unit(x2), "y2": unit(y2)}
    ET.SubElement(parent, "line", {"class": name, **ends})


def text_at(parent: ET.Element, name: str, x: float, y: float, text: str) -> ET.Element:
    element = ET.SubElement(parent, "text", {"class": name, "x": unit(x), "y": unit(y)})
    element.text = text
    return element


def unit(number: float) -> str:
    return f"{round(number, 1):g}"


def column(
    parent: ET.Element,
    left: float,
    right: float,
    top: float,
    bottom: float,
    title: str,
    name: str = "column",
) -> None:
    """Draw a bar of a histogram with its title."""
    box = {"x": unit(left), "y": unit(top), "width": unit(right - left), "height": unit(bottom - top)}
    ET.SubElement(ET.SubElement(parent, "rect", {"class": name, **box}), "title").text = title


def dot(parent: ET.Element, x: float, y: float, title: str, radius: float = 5) -> None:
    """Draw a dot of a value with its title."""
    place = {"class": "bin", "cx": unit(x), "cy": unit(y), "r": unit(radius)}
    ET.SubElement(ET.SubElement(parent, "circle", place), "title").text = title


def axis_title(parent: ET.Element, x: float, y: float, title: str, longest: int = LONGEST_TITLE) -> None:
    """Write a title below an axis, on as many lines as it needs, the first at `y`."""
    for place, words in enumerate(wrap(title, longest)):
        text_at(parent, "axis middle", x, y + TITLE_LINE * place, words)


def extra_height(title: str, longest: int = LONGEST_TITLE) -> int:
    """Return how many units the lines of an `axis_title` take beyond the first."""
    return TITLE_LINE * max(0, len(wrap(title, longest)) - 1)


def name_curves(svg: ET.Element, names: Sequence[str], left: float) -> None:
    """Write the names of curves in order below the chart, and extend it to hold them."""
    _, _, width, height = (int(side) for side in svg.get("viewBox", "").split())
    y = height + NAME_LINE
    for number, name in enumerate(names):
        points = f"{unit(left)},{unit(y - 4)} {unit(left + NAME_MARK)},{unit(y - 4)}"
        ET.SubElement(svg, "polyline", {"class": f"curve series-{number % COLOURS}", "points": points})
        for words in wrap(name, int((width - left - NAME_MARK - NAME_GAP) / LETTER)):
            text_at(svg, "axis", left + NAME_MARK + NAME_GAP, y, words)
            y += NAME_LINE
    svg.set("viewBox", f"0 0 {width} {y - NAME_LINE + 8}")
