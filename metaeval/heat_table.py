"""Tables whose cells are shaded by their figures: what the templates of both pages are filled with."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

HEAT_STEPS = 10


@dataclass(frozen=True)
class HeatCell:
    """One figure. Without a value it says why; without an address it cannot be chosen."""

    id: str
    value: float
    below: str
    """What stands in small type under the value: on how many it stands, or why there is none."""
    heat: int | None
    address: str
    is_chosen: bool
    is_best: bool = False

    @property
    def is_defined(self) -> bool:
        return not math.isnan(self.value)


@dataclass(frozen=True)
class HeatRow:
    title: str
    note: str
    cells: Sequence[HeatCell | None]
    """None where there is no such figure."""


def heat(value: float, none: float = 0.0, full: float = 1.0) -> int | None:
    """The shade, 0 to 10, of a value between `none` and `full`; none for nan. Below `none` it is 0."""
    if math.isnan(value):
        return None
    share = (value - none) / (full - none)
    return round(HEAT_STEPS * min(1.0, max(0.0, share)))


def mark_best(rows: Sequence[HeatRow]) -> list[HeatRow]:
    """The same rows, with the highest value of each column marked where at least two are defined."""
    marked = [list(row.cells) for row in rows]
    for column in range(len(rows[0].cells) if rows else 0):
        values = [cell.value for cells in marked if (cell := cells[column]) and cell.is_defined]
        if len(values) < 2:
            continue
        for cells in marked:
            cell = cells[column]
            if cell is not None and cell.value == max(values):
                cells[column] = replace(cell, is_best=True)
    return [replace(row, cells=cells) for row, cells in zip(rows, marked, strict=True)]


def undefined_reasons(rows: Sequence[HeatRow]) -> list[str]:
    """Why figures of the table are undefined, each reason once, in the order in which they occur."""
    undefined = (cell.below for row in rows for cell in row.cells if cell and not cell.is_defined)
    return list(dict.fromkeys(undefined))
