"""Charts as SVG, drawn here so that pages need no script. Pure: arrays in, text out.

What things look like (colours, strokes, fonts) is left to static/css/figures.css, by class.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from metaeval.chart_parts import (
    Axis,
    Range,
    column,
    drawing,
    line,
    nice_range,
    text_at,
    ticks,
    unit,
)
from metaeval.stats.arrays import Floats, Ints
from metaeval.system_marks import system_mark

CELL = 6  # units: points nearer than this are drawn as one dot, the larger the more they are
DOT_SIZES = 5
EDGE = 8  # units around the points, so that none lies on the frame
LONGEST_TITLE = 48  # characters
NARROWEST_TICK = 26  # units between two numbers under a histogram
BARS = 20  # of a histogram whose values do not lie evenly
MOST_BARS, MOST_SLOTS = 24, 240  # else


class SystemMean(NamedTuple):
    system: int
    label: float
    score: float
    n: int


def system_means(labels: Floats, scores: Floats, systems: Ints, n_systems: int) -> list[SystemMean]:
    """Mean label and mean score of each system that has summaries among the n given; arrays are (n,)."""
    known = systems >= 0
    n = np.bincount(systems[known], minlength=n_systems)
    label_sums = np.bincount(systems[known], weights=labels[known], minlength=n_systems)
    score_sums = np.bincount(systems[known], weights=scores[known], minlength=n_systems)
    return [
        SystemMean(each, float(label_sums[each] / n[each]), float(score_sums[each] / n[each]), int(n[each]))
        for each in np.flatnonzero(n).tolist()
    ]


def scatter(
    labels: Floats,
    scores: Floats,
    systems: Ints,
    *,
    system_names: Sequence[str],
    score_title: str,
    label_title: str,
    label_range: Range | None = None,
) -> str:
    """Scores (across) against human labels (up): dots for summaries, coloured marks for systems' means.

    `labels`, `scores` and `systems` (places among `system_names`, -1 if not known) are (n,) with n of 1 or
    more; `label_range` is what labels can be, else what they are.
    """
    width, height = 460, 380
    across = Axis(nice_range(scores), 46 + EDGE, width - 8 - EDGE)
    up = Axis(label_range or nice_range(labels), height - 44 - EDGE, 6 + EDGE)
    means = system_means(labels, scores, systems, len(system_names))
    svg = drawing(
        "scatter",
        width,
        height,
        title=f"{score_title} against {label_title}",
        description=f"{len(labels):,} summaries with scores from {scores.min():.3g} to {scores.max():.3g} and"
        f" labels from {labels.min():.3g} to {labels.max():.3g}, and the means of {len(means)} systems.",
    )
    for tick in ticks(across.range):
        x = across.at(tick)
        line(svg, "grid", x, up.start + EDGE, x, up.end - EDGE)
        text_at(svg, "tick middle", x, up.start + EDGE + 18, f"{tick:g}")
    for tick in ticks(up.range):
        y = up.at(tick)
        line(svg, "grid", across.start - EDGE, y, across.end + EDGE, y)
        text_at(svg, "tick end", across.start - EDGE - 8, y + 4, f"{tick:g}")
    text_at(svg, "axis middle", (across.start + across.end) / 2, height - 6, _short(score_title))
    turned = text_at(svg, "axis middle", 0, 0, _short(label_title))
    turned.set("transform", f"translate(13 {(up.start + up.end) / 2:g}) rotate(-90)")
    for size, path in _dots(across.place(scores), up.place(labels)):
        ET.SubElement(svg, "path", {"class": f"dots size-{size}", "d": path})
    for mean in means:
        mark = system_mark(svg, mean.system, across.at(mean.score), up.at(mean.label), 7)
        ET.SubElement(mark, "title").text = (
            f"{system_names[mean.system]}: mean score {mean.score:.3f}, mean label {mean.label:.3f},"
            f" {mean.n:,} summaries"
        )
    return ET.tostring(svg, encoding="unicode")


def histogram(values: Floats, *, title: str, counted: str, span: Range | None = None) -> str:
    """How often each value occurs, or where there are many values each interval.

    `values` are (n,) with n of 1 or more; `counted` says what they are of, in the plural; `span` is what
    they can be, else what they are.
    """
    width, height = 230, 160
    span = span or nice_range(values)
    bars = _bars(values, span)
    edge = min(bar.high - bar.low for bar in bars) / 2
    across = Axis(Range(span.low - edge, span.high + edge), 38, width - 4)
    up = Axis(Range(0, max(bar.times for bar in bars)), height - 40, 12)
    svg = drawing(
        "histogram",
        width,
        height,
        title=title,
        description=f"{len(values):,} {counted}; mean {values.mean():.3f}, from {values.min():.3g} to"
        f" {values.max():.3g}.",
    )
    for tick in ticks(up.range, about=3):
        if tick == int(tick):
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
    marks = ticks(span)
    if across.at(marks[1]) - across.at(marks[0]) < NARROWEST_TICK:
        marks = ticks(span, about=2)
    for tick in marks:
        text_at(svg, "tick middle", across.at(tick), up.start + 16, f"{tick:g}")
    text_at(svg, "axis middle", (across.start + across.end) / 2, height - 5, title)
    return ET.tostring(svg, encoding="unicode")


def answer_columns(counts: Ints, names: Sequence[str], *, title: str) -> str:
    """How often each answer was given; `counts` are (answers,) with one answer or more, named by `names`."""
    width, height = 460, 210
    svg = drawing(
        "histogram",
        width,
        height,
        title=title,
        description="; ".join(
            f"{name}: {count:,}" for name, count in zip(names, counts.tolist(), strict=True)
        ),
    )
    up = Axis(Range(0, max(int(counts.max()), 1)), height - 44, 24)
    slot = (width - 20) / len(names)
    reach = min(slot * 0.35, 36)
    total = int(counts.sum())
    for place, (name, count) in enumerate(zip(names, counts.tolist(), strict=True)):
        middle = 10 + slot * (place + 0.5)
        top = up.at(count)
        column(svg, middle - reach, middle + reach, top, up.start, f"{name}: {count:,} of {total:,} answers")
        if total:
            text_at(svg, "tick middle", middle, top - 7, f"{count / total:.0%}")
        text_at(svg, "tick middle", middle, up.start + 17, name)
    line(svg, "base", 10, up.start, width - 10, up.start)
    text_at(svg, "axis middle", width / 2, height - 6, title)
    return ET.tostring(svg, encoding="unicode")


def _short(title: str) -> str:
    """What of a title fits along an axis; the whole stands in the chart's own title."""
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"


class _Bar(NamedTuple):
    low: float
    high: float
    times: int
    name: str


def _bars(values: Floats, span: Range) -> list[_Bar]:
    """A bar for each of the values if they are few; where they lie evenly, as many of them in each bar."""
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
    most = math.ceil((span.high - low) / width - 1e-6) - 1
    places = np.clip(np.floor((values - low) / width + 1e-9).astype(np.int64), 0, most)
    return [
        _Bar(low + place * width, low + (place + 1) * width, times, _named(values[places == place]))
        for place, times in enumerate(np.bincount(places).tolist())
        if times
    ]


def _named(values: Floats) -> str:
    low, high = f"{values.min():.3g}", f"{values.max():.3g}"
    return low if low == high else f"{low} to {high}"


def _dots(x: Floats, y: Floats) -> Iterator[tuple[int, str]]:
    """Sizes 1 to 5, each with a path of dots: one at the mean of each cell's points."""
    cells = np.floor(x / CELL).astype(np.int64) * 1000 + np.floor(y / CELL).astype(np.int64)
    _, cell, counts = np.unique(cells, return_inverse=True, return_counts=True)
    middle_x = np.bincount(cell, weights=x) / counts
    middle_y = np.bincount(cell, weights=y) / counts
    most = int(counts.max())
    sizes = counts
    if most > DOT_SIZES:
        sizes = 1 + np.floor((DOT_SIZES - 1) * np.log(counts) / math.log(most) + 1e-9).astype(np.int64)
    for size in range(1, DOT_SIZES + 1):
        chosen = sizes == size
        if chosen.any():
            places = zip(middle_x[chosen].tolist(), middle_y[chosen].tolist(), strict=True)
            yield size, "".join(f"M{unit(px)} {unit(py)}h0" for px, py in places)
