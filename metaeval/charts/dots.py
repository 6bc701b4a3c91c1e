"""Points of a plot merged into dots, so that many points stay a small drawing."""

from typing import NamedTuple

import numpy as np

from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.groups import Groups
from metaeval.stats.ranks import value_codes

CELL = 6  # units: points nearer than this are drawn as one dot, the larger the more they are


class Dots(NamedTuple):
    """Points in the same cell, merged."""

    x: Floats
    """(dots,) the mean of the points."""
    y: Floats
    counts: Ints
    """(dots,) points of each."""
    of_points: Ints
    """(points,) the dot of each."""


def dots_of(x: Floats, y: Floats) -> Dots:
    """Merge points in the same cell; `x` and `y` are (points,) in units of the drawing."""
    cells = np.floor(x / CELL).astype(np.int64) * 1000 + np.floor(y / CELL).astype(np.int64)
    of_points = value_codes(cells, Groups(np.array([len(cells)])))
    counts = np.bincount(of_points)
    return Dots(
        x=np.bincount(of_points, weights=x) / counts,
        y=np.bincount(of_points, weights=y) / counts,
        counts=counts,
        of_points=of_points,
    )
