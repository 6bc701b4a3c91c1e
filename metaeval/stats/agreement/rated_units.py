"""The units that show agreement, as every statistic that is computed from counts takes them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from metaeval.stats.agreement.agreement_counts import pairable
from metaeval.stats.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Cells:
    """Which answers units got. Answers that a unit did not get take no room, however many there are."""

    units: Ints
    """(cells,) ascending; every unit, 0 to n_units - 1, has one cell or more."""
    answers: Ints
    """(cells,) ascending within a unit; on an ordinal scale in the scale's order."""
    n_units: int
    n_answers: int
    """Answers that there are, given or not."""

    @cached_property
    def given(self) -> Ints:
        """(given,) the different answers that occur, ascending."""
        return np.unique(self.answers)

    @cached_property
    def place(self) -> Ints:
        """(cells,) the place of each cell's answer among `given`."""
        return np.searchsorted(self.given, self.answers)

    @cached_property
    def by_unit(self) -> sparse.csr_array:
        return indicator(self.units, self.n_units)

    @cached_property
    def by_answer(self) -> sparse.csr_array:
        return indicator(self.place, len(self.given))


@dataclass(frozen=True, eq=False)
class RatedUnits:
    """Units (summaries) with two ratings or more: which answers they got, and how often each counts.

    Many draws (resamples) are computed at once: the last axis of `counts`, `pairs` and `times` is that of
    draws, and has length 1 where all draws share the numbers.
    """

    cells: Cells
    counts: Floats
    """(cells, draws) ratings of the unit that give the answer."""
    pairs: Floats
    """(units, draws) ordered pairs of ratings of the unit by two different raters; m (m - 1) of m ratings."""
    times: Floats
    """(units, draws) how many units are like this one; 0 for none."""

    @classmethod
    def of_counts(cls, counts: npt.ArrayLike) -> "RatedUnits":
        """From (units, answers) counts, of which units with fewer than two ratings are left out.

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
        """(units, draws) the ratings of each unit."""
        return self.unit_sum(self.counts)

    @cached_property
    def totals(self) -> Floats:
        """(given, draws) how often each answer that occurs was given, by units as often as they count."""
        return self.answer_sum(self.of_cell(self.times) * self.counts)

    @cached_property
    def differing(self) -> Floats:
        """(units, draws) ordered pairs of ratings of one unit that differ."""
        return self.ratings**2 - self.unit_sum(self.counts**2)

    def unit_sum(self, of_cell: Floats) -> Floats:
        """(units, draws) the sum of a unit's cells, (cells, draws)."""
        return self.cells.by_unit @ of_cell

    def answer_sum(self, of_cell: Floats) -> Floats:
        """(given, draws) the sum of the cells, (cells, draws), of each answer that occurs."""
        return self.cells.by_answer @ of_cell

    def of_cell(self, of_unit: Floats) -> Floats:
        """(cells, draws) the value of each cell's unit, (units, draws)."""
        return of_unit[self.cells.units]

    def squares(self, numbers: Floats) -> Floats:
        """(units, draws) sum of (x - y)^2 over a unit's ordered pairs of ratings.

        `numbers` is (cells, draws). Taken from the unit's mean, so that equal answers leave nothing behind.
        """
        weighted = self.counts * numbers
        ratings = np.where(self.ratings > 0, self.ratings, 1.0)
        deviations = numbers - self.of_cell(self.unit_sum(weighted) / ratings)
        return 2 * self.ratings * self.unit_sum(self.counts * deviations**2)

    def distances(self, numbers: Floats) -> Floats:
        """(units, draws) sum of |x - y| over a unit's ordered pairs of ratings.

        `numbers`, (cells, draws), ascend within a unit.
        """
        before = np.cumsum(self.counts, axis=0) - self.counts
        before -= before[np.searchsorted(self.cells.units, self.cells.units)]
        after = self.of_cell(self.ratings) - before - self.counts
        return 2 * self.unit_sum(self.counts * numbers * (before - after))

    def with_times(self, times: Floats) -> "RatedUnits":
        """The same units, counting otherwise: `times` as (units, draws)."""
        return RatedUnits(self.cells, self.counts, self.pairs, times)

    def only(self, wanted: Bools) -> "RatedUnits":
        """The units where `wanted`, (units,), is true."""
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
    """(groups, members) 1 where a member is of the group: times (members, draws) it sums each group."""
    ends = np.cumsum(np.bincount(group, minlength=n_groups))
    members = np.argsort(group, kind="stable")
    shape = (n_groups, len(group))
    return sparse.csr_array((np.ones(len(group)), members, np.append(0, ends)), shape=shape)
