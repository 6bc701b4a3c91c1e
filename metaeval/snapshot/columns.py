"""Rows of tuples as columns."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from metaeval.stats.arrays import Ints


def columns(rows: Iterable[tuple[Any, ...]], width: int) -> list[tuple[Any, ...]]:
    """Return the `width` columns of rows, also if there are no rows."""
    return list(zip(*rows, strict=True)) or [()] * width


def whole_numbers(values: Iterable[int]) -> Ints:
    return np.array(tuple(values), dtype=np.int64)


def places_of(values: Ints, among: Ints) -> Ints:
    """Return the place of each value in the ascending `among`, (values,); -1 if absent."""
    if not len(among):
        return np.full(len(values), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(among, values), len(among) - 1)
    return np.where(among[places] == values, places, -1)
