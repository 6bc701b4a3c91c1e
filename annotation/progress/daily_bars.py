"""Positions of the bars of a chart, drawn as SVG by a template. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

WIDTH, HEIGHT = 434, 150  # units of the drawing
TOP, BASE = 22, 126
SLOT, BAR = 31, 21
SHORTEST = 1.5  # so that one rating beside a thousand can still be seen


@dataclass(frozen=True)
class DayBar:
    """The bar of one day, with `upper` on top of `lower`."""

    date: date
    x: float
    middle: float
    lower: int
    upper: int
    lower_y: float
    lower_height: float
    upper_y: float
    upper_height: float

    @property
    def total(self) -> int:
        return self.lower + self.upper

    @property
    def label_y(self) -> float:
        return self.upper_y - 5

    @property
    def width(self) -> int:
        return BAR

    @property
    def names_month(self) -> bool:
        return self.x < SLOT or self.date.day == 1


def daily_bars(days: Sequence[tuple[date, int, int]]) -> list[DayBar]:
    """Return stacked bars for (date, lower, upper) from left to right. The largest sum fills the height."""
    most = max((lower + upper for _, lower, upper in days), default=0)
    bars = []
    for number, (day, lower, upper) in enumerate(days):
        x = number * SLOT + (SLOT - BAR) / 2
        lower_height, upper_height = _height(lower, most), _height(upper, most)
        bars.append(
            DayBar(
                date=day,
                x=x,
                middle=x + BAR / 2,
                lower=lower,
                upper=upper,
                lower_y=round(BASE - lower_height, 2),
                lower_height=lower_height,
                upper_y=round(BASE - lower_height - upper_height, 2),
                upper_height=upper_height,
            )
        )
    return bars


def _height(count: int, most: int) -> float:
    return round(max(SHORTEST, (BASE - TOP) * count / most), 2) if count else 0.0
