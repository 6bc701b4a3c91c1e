"""Units with two ratings or more, as statistics computed from counts need them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from metaeval.stats.agreement.agreement_counts import pairable
from metaeval.stats.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Cells:
    """The answers of each unit. Answers that a unit did not get take no memory."""

    units: Ints
    """(cells,) ascending; every unit, 0 to n_units - 1, has one cell or more."""
    answers: Ints
    """(cells,) ascending within a unit; on an ordinal scale in the scale's order."""
    n_units: int
    n_answers: int
    """All possible answers, given or not."""

    @cached_property
    def given(self) -> Ints:
        """The different answers that occur, ascending, (given,)."""
        return np.unique(self.answers)

    @cached_property
    def place(self) -> Ints:
        """The place of each cell's answer among `given`, (cells,)."""
        return np.searchsorted(self.given, self.answers)

    @cached_property
    def by_unit(self) -> sparse.csr_array:
        return indicator(self.units, self.n_units)

    @cached_property
    def by_answer(self) -> sparse.csr_array:
        return indicator(self.place, len(self.given))


@dataclass(frozen=True, eq=False)
class RatedUnits:
    """Units (summaries) with two ratings or more: their answers and their weights.

    Many draws (resamples) are computed at once: the last axis of `counts`, `pairs` and `times` is that of
    draws, and has length 1 where all draws share the numbers.
    """

    cells: Cells
    counts: Floats
    """(cells, draws) ratings of the unit that give the answer."""
    pairs: Floats
    """(units, draws) ordered pairs of ratings of the unit by two different raters; m (m - 1) of m ratings."""
    times: Floats
    """(units, draws) how often each unit counts."""

    @classmethod
    def of_counts(cls, counts: npt.ArrayLike) -> "RatedUnits":
        """Return the units of a (units, answers) table that have two ratings or more.

        Raises ValueError unless `counts` is a table of whole numbers of 0 or more.
        """
        table = pairable(counts).counts
        units, answers = np.nonzero(table)
        ratings = table.sum(axis=1)
        return cls(
            Cells(units, answers, *table.shape),
            counts=table[units, answers].astype(np.float64)[:, None],
            pairs=(ratings * (ratings - 1)).astype(np.float64)[:, None],
            times=np.ones((len(table), 1)),
        )

    def __len__(self) -> int:
        return self.cells.n_units

    @cached_property
    def ratings(self) -> Floats:
        """The ratings of each unit, (units, draws)."""
        return self.unit_sum(self.counts)

    @cached_property
    def totals(self) -> Floats:
        """The count of each answer that occurs, weighted by `times`, (given, draws)."""
        return self.answer_sum(self.of_cell(self.times) * self.counts)

    @cached_property
    def differing(self) -> Floats:
        """Ordered pairs of ratings of one unit that differ, (units, draws)."""
        return self.ratings**2 - self.unit_sum(self.counts**2)

    def unit_sum(self, of_cell: Floats) -> Floats:
        """Sum each unit's cells: (cells, draws) to (units, draws)."""
        return self.cells.by_unit @ of_cell

    def answer_sum(self, of_cell: Floats) -> Floats:
        """Sum the cells of each answer that occurs: (cells, draws) to (given, draws)."""
        return self.cells.by_answer @ of_cell

    def of_cell(self, of_unit: Floats) -> Floats:
        """Return the value of each cell's unit: (units, draws) to (cells, draws)."""
        return of_unit[self.cells.units]

    def squares(self, numbers: Floats) -> Floats:
        """Return the sum of (x - y)^2 over a unit's ordered pairs of ratings, (units, draws).

        `numbers` is (cells, draws). Taken from the unit's mean, so that equal answers leave nothing behind.
        """
        weighted = self.counts * numbers
        ratings = np.where(self.ratings > 0, self.ratings, 1.0)
        deviations = numbers - self.of_cell(self.unit_sum(weighted) / ratings)
        return 2 * self.ratings * self.unit_sum(self.counts * deviations**2)

    def distances(self, numbers: Floats) -> Floats:
        """Return the sum of |x - y| over a unit's ordered pairs of ratings, (units, draws).

        `numbers`, (cells, draws), ascend within a unit.
        """
        before = np.cumsum(self.counts, axis=0) - self.counts
        before -= before[np.searchsorted(self.cells.units, self.cells.units)]
        after = self.of_cell(self.ratings) - before - self.counts
        return 2 * self.unit_sum(self.counts * numbers * (before - after))

    def with_times(self, times: Floats) -> "RatedUnits":
        """Return the same units with other weights `times`, (units, draws)."""
        return RatedUnits(self.cells, self.counts, self.pairs, times)

    def only(self, wanted: Bools) -> "RatedUnits":
        """Return the units where `wanted`, (units,), is true."""
        cells = wanted[self.cells.units]
        return RatedUnits(
            Cells(
                (np.cumsum(wanted) - 1)[self.cells.units[cells]],
                self.cells.answers[cells],
                int(np.count_nonzero(wanted)),
                self.cells.n_answers,
            ),
            self.counts[cells],
            self.pairs[wanted],
            self.times[wanted],
        )


def indicator(group: Ints, n_groups: int) -> sparse.csr_array:
    """Return the (groups, members) matrix of 0 and 1 that sums members into groups."""
    ends = np.cumsum(np.bincount(group, minlength=n_groups))
    members = np.argsort(group, kind="stable")
    shape = (n_groups, len(group))
    return sparse.csr_array((np.ones(len(group)), members, np.append(0, ends)), shape=shape)
