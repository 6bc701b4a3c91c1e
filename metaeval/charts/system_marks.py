"""The mark of each system: colour, shape and fill, the same in every chart."""

import math
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from metaeval.charts.parts import unit

COLOURS = 8


def legend_mark(system: int) -> str:
    """Return a system's mark alone, for beside its name."""
    svg = ET.Element("svg", {"class": "chart mark-of-system", "viewBox": "0 0 18 18", "aria-hidden": "true"})
    system_mark(svg, system, 9, 9, 6.5)
    return ET.tostring(svg, encoding="unicode")


def _regular(corners: int, turn: float, radii: Sequence[float] = (1.0,)) -> tuple[tuple[float, float], ...]:
    """Return the corners of a polygon around the origin, the first at `turn` of a circle.

    Radii are used in turn.
    """
    points = []
    for corner in range(corners):
        angle = 2 * math.pi * (turn + corner / corners)
        radius = radii[corner % len(radii)]
        points.append((radius * math.sin(angle), -radius * math.cos(angle)))
    return tuple(points)


_PLUS = tuple(
    (x * 1.05, y * 1.05)
    for x, y in (
        *((-0.36, -1.0), (0.36, -1.0), (0.36, -0.36), (1.0, -0.36), (1.0, 0.36), (0.36, 0.36)),
        *((0.36, 1.0), (-0.36, 1.0), (-0.36, 0.36), (-1.0, 0.36), (-1.0, -0.36), (-0.36, -0.36)),
    )
)
_CROSS = tuple(((x - y) * math.sqrt(0.5), (x + y) * math.sqrt(0.5)) for x, y in _PLUS)
_SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    _regular(24, 0),  # circle
    _regular(4, 1 / 8, (1.25,)),  # square
    _regular(3, 0, (1.3,)),  # triangle
    _regular(4, 0, (1.25,)),  # diamond
    _regular(3, 1 / 2, (1.3,)),  # triangle, point down
    _PLUS,
    _CROSS,
    _regular(10, 0, (1.35, 0.6)),  # star
)


def system_mark(parent: ET.Element, system: int, x: float, y: float, radius: float) -> ET.Element:
    """Draw a system's mark: colour and shape by number, hollow for every second eight."""
    shape = _SHAPES[(system + system // (2 * COLOURS)) % len(_SHAPES)]
    hollow = " hollow" if system // COLOURS % 2 else ""
    points = " ".join(f"{unit(x + radius * px)},{unit(y + radius * py)}" for px, py in shape)
    return ET.SubElement(
        parent, "polygon", {"class": f"mean series-{system % COLOURS}{hollow}", "points": points}
    )
