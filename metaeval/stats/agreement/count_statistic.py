"""The common base of statistics computed from counts of answers."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.stats.agreement.agreement_counts import NOT_PAIRABLE, pairable
from metaeval.stats.agreement.answer_numbers import answer_numbers
from metaeval.stats.agreement.rated_units import RatedUnits
from metaeval.stats.arrays import Floats
from metaeval.stats.result import Agreement


@dataclass(frozen=True)
class CountStatistic:
    """A statistic of agreement that does not depend on who gave a rating.

    `values` gives it for all draws of the units at once, (draws,), nan where it is undefined, on a scale of
    which the answers stand for the numbers (answers,); `definition` says how, on a scale; `undefined` why it
    may be nan where some unit has two ratings; `least` is its lowest possible value. The highest is 1.
    """

    values: Callable[[RatedUnits, str, Floats], Floats]
    definition: Callable[[str], str]
    undefined: str = ""
    least: float = -1.0

    def of_counts(self, counts: npt.ArrayLike, scale: str, numbers: npt.ArrayLike | None = None) -> Agreement:
        """Return the statistic of a table of counts (units, answers)."""
        table, left_out = pairable(counts)
        checked = answer_numbers(scale, numbers, table.shape[1])
        value = float(self.values(RatedUnits.of_counts(table), scale, checked)[0])
        return Agreement(
            value=value,
            units=len(table),
            ratings=int(table.sum()),
            definition=self.definition(scale),
            left_out=left_out,
            reason=self.reason(value, len(table)),
        )

    def reason(self, value: float, n_units: int) -> str:
        """Return why `value` of `n_units` units is nan, or an empty text."""
        if not np.isnan(value):
            return ""
        return self.undefined if n_units else NOT_PAIRABLE


def ratio(above: Floats, below: Floats) -> Floats:
    """Return `above` / `below`, nan where `below` is not above 0."""
    positive = np.broadcast_to(below > 0, np.broadcast_shapes(above.shape, below.shape))
    quotient = np.full(positive.shape, np.nan)
    return np.divide(above, below, out=quotient, where=positive)


def mean_over_units(units: RatedUnits, differing: Floats) -> Floats:
    """Return the mean over units of `differing` / pairs, (draws,), weighted by `times`.

    `differing` is (units, draws).
    """
    shares = np.where(units.pairs > 0, differing, 0.0) / np.where(units.pairs > 0, units.pairs, 1.0)
    return ratio((units.times * shares).sum(axis=0), units.times.sum(axis=0))
