"""Tables whose cells are shaded by their figures: what the templates of both pages are filled with."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

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
    interval: str = ""
    """What stands between value and `below`: where the value may lie."""
    cluster: str = ""
    """Letters; figures of a column that share one are not told apart."""
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


def undefined_reasons(rows: Sequence[HeatRow]) -> list[str]:
    """Why figures of the table are undefined, each reason once, in the order in which they occur."""
    undefined = (cell.below for row in rows for cell in row.cells if cell and not cell.is_defined)
    return list(dict.fromkeys(undefined))
