"""Rows weighted by how often a resample draws their article or system.

No resample is written out. Rows are sorted once and count as often as their unit (the article, the system, or
the row itself) was drawn. All resamples of a block are computed at once.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.groups import Groups
from metaeval.stats.ranks import value_codes

Table: TypeAlias = Floats | csr_array
# A table with more of its cells filled than this is multiplied faster as a dense matrix.
DENSE = 0.2


@dataclass(frozen=True)
class Draws:
    """The counts of each unit's draws, and values that every evaluator's computation reuses."""

    times: Floats
    """(units, resamples) whole numbers."""

    @cached_property
    def squares(self) -> Floats:
        return self.times * self.times

    @cached_property
    def cubes(self) -> Floats:
        return self.squares * self.times

    @cached_property
    def in_single_precision(self) -> npt.NDArray[np.float32]:
        return self.times.astype(np.float32)

    @cached_property
    def most(self) -> float:
        """Return the number of times that the most drawn unit was drawn."""
        return float(self.times.max())


@dataclass(frozen=True)
class ReweightedRows:
    """Labels and scores, sorted by group, and the units by which rows and groups are drawn.

    A row counts in its group as often as the row's unit was drawn, the group as often as the group's.
    """

    labels: Floats
    """(rows,) finite."""
    scores: Floats
    """(rows,) finite."""
    groups: Groups
    units: Ints
    """(rows,) place of each row's unit."""
    unit_count: int
    group_units: Ints
    """(groups,) place of the unit by which each group is drawn."""

    @cached_property
    def label_codes(self) -> Ints:
        """Codes of the distinct (group, label) pairs, ascending, (rows,)."""
        return value_codes(self.labels, self.groups)

    @cached_property
    def score_codes(self) -> Ints:
        return value_codes(self.scores, self.groups)

    @cached_property
    def are_scores_distinct(self) -> bool:
        """Return whether no two rows of a group have the same score."""
        return int(self.score_codes.max()) + 1 == len(self.score_codes)

    @cached_property
    def _size_table(self) -> Table:
        return self.table(self.groups.of_row, len(self.groups.sizes))

    def sizes(self, drawn: Draws) -> Floats:
        """Return the weighted number of rows of each group, (groups, resamples)."""
        return self._size_table @ drawn.times

    def group_times(self, drawn: Draws) -> Floats:
        """Return how often each group was drawn, (groups, resamples)."""
        return drawn.times[self.group_units]

    def table(self, codes: Ints, code_count: int) -> Table:
        """Return the number of rows with each code and unit, (codes, units)."""
        return sum_table(codes, code_count, self.units, self.unit_count)


def sum_table(
    codes: Ints, code_count: int, units: Ints, unit_count: int, values: Floats | None = None
) -> Table:
    """Count rows, or sum their `values`, for each code and unit, (codes, units)."""
    if len(codes) > DENSE * code_count * unit_count:
        dense = np.bincount(codes * unit_count + units, values, code_count * unit_count)
        return dense.reshape(code_count, unit_count).astype(np.float64)
    numbers = np.ones(len(codes)) if values is None else values
    table = coo_array((numbers, (codes, units)), shape=(code_count, unit_count))
    table.has_canonical_format = True  # entries of one cell add up in a product, too: no need to merge them
    return table.tocsr()


class ValueCounts:
    """The counts of each value in a resample of a group; copies of a row count too.

    `codes` (rows,) number the distinct (group, value).
    """

    def __init__(self, rows: ReweightedRows, codes: Ints) -> None:
        groups, group_count = rows.groups.of_row, len(rows.groups.sizes)
        alone = np.bincount(codes)[codes] == 1
        # Values of one row are the bulk among scores, and need no table of their own.
        self._of_one_row = sum_table(groups[alone], group_count, rows.units[alone], rows.unit_count)
        values, first, code = np.unique(codes[~alone], return_index=True, return_inverse=True)
        self._of_several = sum_table(code, len(values), rows.units[~alone], rows.unit_count)
        self._of_group = sum_table(groups[~alone][first], group_count, np.arange(len(values)), len(values))

    def squares(self, drawn: Draws) -> Floats:
        several = self._of_several @ drawn.times
        return self._of_one_row @ drawn.squares + self._of_group @ (several * several)

    def cubes(self, drawn: Draws) -> Floats:
        several = self._of_several @ drawn.times
        return self._of_one_row @ drawn.cubes + self._of_group @ (several * several * several)

    def distinct(self, drawn: Draws) -> Floats:
        several = self._of_several @ drawn.times
        return self._of_one_row @ (drawn.times > 0).astype(float) + self._of_group @ (several > 0).astype(
            float
        )
