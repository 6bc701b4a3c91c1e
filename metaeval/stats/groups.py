"""Rows grouped, such as the summaries of one article; every operation works on all groups."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Bools, Floats, Ints

Kind = TypeVar("Kind", bound=np.generic)


@dataclass(frozen=True)
class Groups:
    """A division of rows into consecutive groups: the first `sizes[0]` rows, the next `sizes[1]` ...

    Parameters
    ----------
    sizes : (groups,) rows of each group, 0 or more. Totals, means and extremes need 1 or more.
    """

    sizes: Ints

    @cached_property
    def starts(self) -> Ints:
        """(groups,) the first row of each group."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def of_row(self) -> Ints:
        """(rows,) the group each row belongs to."""
        return self.spread(np.arange(len(self.sizes)))

    def spread(self, per_group: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
        """Return the value of each row's group, (rows,)."""
        return np.repeat(per_group, self.sizes)

    def total(self, per_row: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
        """Sum each group's rows: (rows, ...) to (groups, ...)."""
        return np.add.reduceat(per_row, self.starts)

    def mean(self, per_row: Floats) -> Floats:
        """Return the mean of each group's rows, (groups,)."""
        return self.total(per_row) / self.sizes

    def smallest(self, per_row: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
        """Return the least value of each group's rows, (groups,)."""
        return np.minimum.reduceat(per_row, self.starts)

    def largest(self, per_row: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
        """Return the greatest value of each group's rows, (groups,)."""
        return np.maximum.reduceat(per_row, self.starts)

    def only(self, wanted: Bools) -> "Groups":
        """Return the groups where `wanted` (groups,) is true."""
        return Groups(self.sizes[wanted])
