"""Histograms of values."""

import math
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts.parts import (
    LETTER,
    Axis,
    Range,
    axis_title,
    column,
    drawing,
    extra_height,
    line,
    nice_range,
    text_at,
    ticks,
)
from metaeval.stats.arrays import Floats

NARROWEST_TICK = 26  # units between two numbers under a histogram
DIGIT = 8  # units that a digit takes at the largest size that a page gives it
BARS = 20  # of a histogram whose values do not lie evenly
MOST_BARS, MOST_SLOTS = 24, 240  # else


def histogram(
    values: Floats, *, title: str, counted: str, span: Range | None = None, left_out: str = ""
) -> str:
    """Return a histogram of the values, with a bar for each value or each interval.

    `values` are (n,), n of 1 or more. `counted` says what they are of, in the plural. `span` is what they can
    be; by default, what they are. `left_out` is a sentence on what was left out, for the description.
    """
    width, height = 230, 160
    longest = int(width / LETTER)
    span = span or nice_range(values)
    bars = histogram_bars(values, span)
    edge = min(bar.high - bar.low for bar in bars) / 2
    up = Axis(Range(0, max(bar.times for bar in bars)), height - 40, 12)
    counts = [tick for tick in ticks(up.range, about=3) if tick == int(tick)]
    room = max(len(f"{tick:,.0f}") for tick in counts) * DIGIT
    marks = ticks(span)
    across = Axis(
        Range(span.low - edge, span.high + edge), 10 + room, width - 4 - len(f"{marks[-1]:g}") * DIGIT / 2
    )
    svg = drawing(
        "histogram",
        width,
        height + extra_height(title, longest),
        title=title,
        description=f"{len(values):,} {counted}; mean {values.mean():.3f}, from {values.min():.3g} to"
        f" {values.max():.3g}. {left_out}".rstrip(),
    )
    for tick in counts:
        line(svg, "grid", across.start, up.at(tick), across.end, up.at(tick))
        text_at(svg, "tick end", across.start - 6, up.at(tick) + 4, f"{tick:,.0f}")
    for bar in bars:
        left, right = across.at(bar.low), across.at(bar.high)
        gap = min(1.0, (right - left) / 6)
        column(
            svg,
            left + gap,
            right - gap,
            up.at(bar.times),
            up.start,
            f"{bar.name}: {bar.times:,} of {len(values):,} {counted}",
        )
    line(svg, "base", across.start, up.start, across.end, up.start)
    if across.at(marks[1]) - across.at(marks[0]) < NARROWEST_TICK:
        marks = ticks(span, about=2)
    for tick in marks:
        text_at(svg, "tick middle", across.at(tick), up.start + 16, f"{tick:g}")
    axis_title(svg, width / 2, height - 5, title, longest)
    return ET.tostring(svg, encoding="unicode")


class Bar(NamedTuple):
    low: float
    high: float
    times: int
    name: str


class Grid(NamedTuple):
    """Adjacent intervals of the same width."""

    low: float
    width: float
    most: int
    """The place of the last interval, from 0."""


def histogram_bars(values: Floats, span: Range | None = None) -> list[Bar]:
    """Return the bars of `histogram` without empty ones."""
    return bars_on(values, grid_of(values, span or nice_range(values)))


def grid_of(values: Floats, span: Range) -> Grid:
    """Return an interval for each value if they are few, else intervals with equally many values."""
    distinct = np.unique(np.round(values, 6))
    gap = float(np.diff(distinct).min()) if len(distinct) > 1 else 0.0
    slots = (span.high - span.low) / gap if gap else 0.0
    steps = (distinct - distinct[0]) / gap if gap else distinct
    low, width = span.low, (span.high - span.low) / BARS
    if not gap:
        low = float(distinct[0]) - width / 2
    elif slots <= MOST_SLOTS and np.allclose(np.round(steps), steps):
        together = math.ceil(slots / MOST_BARS)
        before = math.floor((distinct[0] - span.low) / gap + 1e-6)
        low, width = float(distinct[0]) - (before + 0.5) * gap, together * gap
    return Grid(low, width, math.ceil((span.high - low) / width - 1e-6) - 1)


def finer(grid: Grid, fewest: int) -> Grid:
    """Split the intervals until there are at least `fewest`; their middles stay middles."""
    parts = 1
    while parts * (grid.most + 1) < fewest:
        parts += 2
    return Grid(grid.low, grid.width / parts, parts * (grid.most + 1) - 1)


def bars_on(values: Floats, grid: Grid) -> list[Bar]:
    """Count the values (n,) in each interval; the first and last take those beyond the ends."""
    places = np.clip(np.floor((values - grid.low) / grid.width + 1e-9).astype(np.int64), 0, grid.most)
    return [
        Bar(
            grid.low + place * grid.width,
            grid.low + (place + 1) * grid.width,
            times,
            _named(values[places == place]),
        )
        for place, times in enumerate(np.bincount(places).tolist())
        if times
    ]


def _named(values: Floats) -> str:
    low, high = f"{values.min():.3g}", f"{values.max():.3g}"
    return low if low == high else f"{low} to {high}"
