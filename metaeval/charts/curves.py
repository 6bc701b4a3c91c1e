"""Values by step, one curve for each measure."""

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from metaeval.charts.parts import COLOURS, line, name_curves, nice_range, plane, unit

MOST_DOTS = 60
"""Points of a curve that are drawn as dots with their values; a longer curve is a line only."""


class Curve(NamedTuple):
    """One measure: its name, and its values, (n,) with n of 1 or more, by ascending step."""

    name: str
    steps: Sequence[float]
    values: Sequence[float]


def curves(
    shown: Sequence[Curve],
    *,
    title: str,
    across_title: str,
    up_title: str,
    best: float | None = None,
) -> str:
    """Return a chart of one or more curves, with a dashed line at the step `best`."""
    steps = np.array([step for each in shown for step in each.steps], dtype=np.float64)
    values = np.array([value for each in shown for value in each.values], dtype=np.float64)
    at_best = f" Best step: {best:g}." if best is not None else ""
    svg, across, up = plane(
        "curves",
        nice_range(np.append(steps, 0.0)),
        nice_range(values),
        across_title=across_title,
        up_title=up_title,
        title=title,
        description=" ".join(map(_told, shown)) + at_best,
    )
    if best is not None:
        line(svg, "ceiling", across.at(best), up.start, across.at(best), up.end)
    for number, each in enumerate(shown):
        places = [(across.at(x), up.at(y)) for x, y in zip(each.steps, each.values, strict=True)]
        points = " ".join(f"{unit(x)},{unit(y)}" for x, y in places)
        ET.SubElement(svg, "polyline", {"class": f"curve series-{number % COLOURS}", "points": points})
        for (x, y), step, value in zip(places, each.steps, each.values, strict=True):
            if len(places) <= MOST_DOTS:
                place = {"cx": unit(x), "cy": unit(y), "r": "3", "class": f"point series-{number % COLOURS}"}
                told = f"{each.name} {value:.4g} at step {step:g}"
                ET.SubElement(ET.SubElement(svg, "circle", place), "title").text = told
    name_curves(svg, [each.name for each in shown], across.start)
    return ET.tostring(svg, encoding="unicode")


def _told(curve: Curve) -> str:
    first, last = curve.values[0], curve.values[-1]
    return f"{curve.name}: {first:.4g} at step {curve.steps[0]:g}, {last:.4g} at step {curve.steps[-1]:g}."
