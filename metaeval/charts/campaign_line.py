"""A value over a campaign, with an interval that holds at every look and one for a single look."""

import math
from collections.abc import Sequence
from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts.measured_rows import Measured, told
from metaeval.charts.parts import Range, line, nice_range, plane, text_at, unit


def campaign_line(
    articles: Sequence[int],
    always: Sequence[Measured],
    once: Sequence[Measured],
    *,
    nothing: float | None,
    settled: int | None,
    title: str,
    up_title: str,
) -> str:
    """Return a line of values by the number of rated articles, in a band within a wider band.

    `articles`, `always` and `once` are (looks,), articles ascending; the two have the same values, and
    intervals of nan where there is none. `nothing` is the value where nothing is there; None for no line.
    `settled` is the number of articles from which a vertical line says that it is settled; None for no line.
    """
    ends = [number for row in (*always, *once) for number in (row.value, row.low, row.high)]
    special = [] if nothing is None else [nothing]
    known = np.array([*special, *(number for number in ends if not math.isnan(number))])
    last = max(articles, default=1)
    svg, across, up = plane(
        "campaign",
        Range(0.0, float(last)),
        nice_range(known) if len(known) else Range(0.0, 1.0),
        across_title="Rated articles",
        up_title=up_title,
        title=title,
        description=f"{'; '.join(map(told, always)) or 'No look yet'}.",
    )
    for rows in (always, once):
        sure = [(n, row) for n, row in zip(articles, rows, strict=True) if not math.isnan(row.low)]
        ends_of_band = [(n, row.high) for n, row in sure] + [(n, row.low) for n, row in sure[::-1]]
        if len(sure) > 1:
            _points(svg, "polygon", "band", [(across.at(n), up.at(y)) for n, y in ends_of_band])
    for value in special:
        line(svg, "ceiling", across.start, up.at(value), across.end, up.at(value))
    if settled is not None:
        line(svg, "mean-line", across.at(settled), up.start, across.at(settled), up.end)
        is_right = across.at(settled) > (across.start + across.end) / 2
        side, apart = ("end", -6) if is_right else ("start", 6)
        text_at(svg, f"tick {side}", across.at(settled) + apart, up.end + 10, f"settled at {settled:,}")
    there = [(n, row.value) for n, row in zip(articles, always, strict=True) if not math.isnan(row.value)]
    _points(svg, "polyline", "curve series-0", [(across.at(n), up.at(value)) for n, value in there])
    return ET.tostring(svg, encoding="unicode")


def _points(svg: ET.Element, kind: str, name: str, places: Sequence[tuple[float, float]]) -> None:
    points = " ".join(f"{unit(x)},{unit(y)}" for x, y in places)
    ET.SubElement(svg, kind, {"class": name, "points": points})
