"""Tables whose cells are shaded by their values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from metaeval.stats.result import each_once

HEAT_STEPS = 10


@dataclass(frozen=True)
class HeatCell:
    """One value. Without a value it says why; without an address it cannot be selected."""

    id: str
    value: float
    below: str
    """Small type under the value: its sample size, or why there is none."""
    heat: int | None
    address: str
    is_chosen: bool
    interval: str = ""
    """The interval, between value and `below`."""
    cluster: str = ""
    """Letters; values of a column that share one do not differ significantly."""
    is_best: bool = False
    few_units: str = ""
    """Warning that the value has much fewer units than its neighbours, with the reason; else empty."""

    @property
    def is_defined(self) -> bool:
        return not math.isnan(self.value)


@dataclass(frozen=True)
class HeatRow:
    title: str
    note: str
    """Small type under the title."""
    cells: Sequence[HeatCell | None]
    """One cell for each column; None where there is no such figure."""
    hint: str = ""
    """The text beside the title when it is pointed at."""


def heat(value: float, none: float = 0.0, full: float = 1.0) -> int | None:
    """Return the shade, 0 to 10, of a value from `none` to `full`; None for nan."""
    if math.isnan(value):
        return None
    share = (value - none) / (full - none)
    return round(HEAT_STEPS * min(1.0, max(0.0, share)))


def undefined_reasons(rows: Sequence[HeatRow]) -> list[str]:
    """Return the reasons for undefined values in the table, without duplicates, in order."""
    return each_once(cell.below for row in rows for cell in row.cells if cell and not cell.is_defined)
