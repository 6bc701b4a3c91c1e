"""Units with the same answers, counted together to speed up the bootstrap."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.agreement.rated_units import Cells, RatedUnits
from metaeval.stats.arrays import Floats, Ints


class Patterns(NamedTuple):
    """The different sets of answers that units got."""

    units: RatedUnits
    """One unit for each pattern, counting as often as it occurs."""
    of_unit: Ints
    """(units,) the pattern of each unit."""

    def times(self, units: Ints) -> Floats:
        """Return how often each pattern occurs among some `units`, (patterns, 1)."""
        found = np.bincount(self.of_unit[units], minlength=len(self.units))
        return found.astype(np.float64)[:, None]


def unit_patterns(units: Ints, answers: Ints, *, n_units: int, n_answers: int) -> Patterns:
    """Return the patterns of answers in ratings in long form.

    Parameters
    ----------
    units : (ratings,) which unit was rated, 0 to n_units - 1; each of them once or more.
    answers : (ratings,) which answer it got, 0 to n_answers - 1.

    However many answers there are, nothing here is larger than the ratings.
    """
    answers = np.sort(_small(units * max(n_answers, 1) + answers)).astype(np.int64) % max(n_answers, 1)
    ratings = np.bincount(units, minlength=n_units)
    first = np.cumsum(ratings) - ratings
    of_unit = np.zeros(n_units, dtype=np.int64)
    for place in range(ratings.max(initial=0)):
        # Each further answer parts patterns that were the same so far; codes are kept within 64 bits.
        if of_unit.max(initial=0) >= 2**62 // (n_answers + 1):
            _, of_unit = np.unique(of_unit, return_inverse=True)
        more = ratings > place
        of_unit *= n_answers + 1
        of_unit[more] += answers[first[more] + place] + 1
    _, example, of_unit, times = np.unique(
        _small(of_unit), return_index=True, return_inverse=True, return_counts=True
    )
    sizes = ratings[example]
    places = np.repeat(first[example] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    different = single_units(
        np.repeat(np.arange(len(sizes)), sizes), answers[places], n_units=len(sizes), n_answers=n_answers
    )
    return Patterns(different.with_times(times.astype(np.float64)[:, None]), of_unit)


def single_units(units: Ints, answers: Ints, *, n_units: int, n_answers: int) -> RatedUnits:
    """Return the units of ratings in long form one by one, each counting once, also where they are equal.

    Parameters are those of `unit_patterns`.
    """
    cells, counts = np.unique(units * max(n_answers, 1) + answers, return_counts=True)
    sizes = np.bincount(units, minlength=n_units)
    return RatedUnits(
        Cells(cells // max(n_answers, 1), cells % max(n_answers, 1), n_units, n_answers),
        counts=counts.astype(np.float64)[:, None],
        pairs=(sizes * (sizes - 1)).astype(np.float64)[:, None],
        times=np.ones((n_units, 1)),
    )


def _small(codes: Ints) -> npt.NDArray[np.unsignedinteger]:
    """Return the codes in the smallest type that holds them, which numpy sorts faster."""
    return codes.astype(np.min_scalar_type(codes.max(initial=0)))
