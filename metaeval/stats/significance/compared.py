"""Evaluators compared in pairs, and the results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Bools, Floats, Ints, number_vector
from metaeval.stats.correlation.coefficients import Coefficient
from metaeval.stats.correlation.constant_scores import LEFT_OUT, coefficient_at
from metaeval.stats.correlation.levels import LEVELS, Level
from metaeval.stats.correlation.roc_auc import yes_or_no
from metaeval.stats.correlation.used_rows import count_units, has_unit, used_rows
from metaeval.stats.result import Estimate
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.uncertainty.bootstrap import Bootstrap


class DifferenceSpread(NamedTuple):
    """A difference's standard error and its distribution."""

    error: float
    """The standard error, above 0, on the test's scale of differences."""
    p_above: Callable[[float], float]
    """The p-value, 0 to 1, of a difference of at most 0, by t, a difference over the error."""


class PairTest(NamedTuple):
    """The test of a first against a second evaluator."""

    p_value: float = np.nan
    """Two-sided, above 0 to 1; nan if the test does not apply."""
    reason: str = ""
    """The reason why there is no p-value; else empty."""
    spread: DifferenceSpread | None = None
    """The standard error that p is computed from; None if p has another source or there is none."""


@dataclass(frozen=True)
class PairDifferences:
    """All pairs of E evaluators; entry [i, j] is evaluator i against evaluator j."""

    differences: Floats
    """(E, E) coefficient of the row minus that of the column, each on what counts for both."""
    n: Ints
    """(E, E) summaries with a label and a score of both, without those of articles (or systems, at a level
    that is their mean) in which only one of the two has a coefficient."""
    units: Ints
    """(E, E) the level's units among them: summaries, articles or systems."""
    reasons: Mapping[tuple[int, int], str]
    """The reason why a difference or a p-value is nan: one text for every such entry."""


@dataclass(frozen=True)
class MarginTests:
    """All ordered pairs of E evaluators; entry [i, j] says whether evaluator i is as good as evaluator j."""

    margin: float
    """The loss that still counts as good, above 0."""
    not_worse: Floats
    """(E, E) one-sided p-values of the row's coefficient being the margin or more below the column's; nan
    where undefined and on the diagonal."""
    reasons: Mapping[tuple[int, int], str]
    """The reason why a p-value is nan."""
    definition: str

    @property
    def equivalent(self) -> Floats:
        """Return p-values of a difference of the margin or more in either direction, (E, E), symmetric."""
        return np.maximum(self.not_worse, self.not_worse.T)


@dataclass(frozen=True)
class PairTests(PairDifferences):
    """The same with a test of each pair."""

    p_values: Floats
    """(E, E) two-sided, symmetric; nan where undefined and on the diagonal."""
    definition: str
    """The evaluators, summaries and test of the comparison, in full sentences."""
    within_margin: MarginTests | None = None
    """The tests with a margin; none without one."""


@dataclass(frozen=True, eq=False)
class Compared:
    """E evaluators' scores of n summaries, turned so that higher is better, and the method."""

    level: Level
    coefficient: Coefficient
    rows: Rows
    """Scores (E, n); labels are 0, 1 or nan if the coefficient is for yes/no labels."""
    resampling: Resampling
    is_turned: bool
    """True if some evaluator's scores were negated."""
    bootstrap: Bootstrap | None = None
    """The bootstrap over articles, of the same evaluators on all labelled summaries, if already drawn."""

    @cached_property
    def scored(self) -> Bools:
        """Return whether each summary has a label and the evaluator's score, (E, n)."""
        return ~np.isnan(self.rows.scores) & ~np.isnan(self.rows.labels)

    def used(self, first: int, second: int) -> Ints:
        """Return the places of the common summaries that the level uses."""
        return np.flatnonzero(self.common(first, second) & self.has_unit)

    @cached_property
    def has_unit(self) -> Bools:
        """Return whether the level can use each summary, (n,)."""
        return has_unit(self.level, self.rows)

    @cached_property
    def _estimates(self) -> dict[tuple[int, bytes], Estimate]:
        return {}

    @cached_property
    def _used(self) -> dict[tuple[int, bytes], Bools]:
        return {}

    @cached_property
    def _common(self) -> dict[tuple[int, int], Bools]:
        return {}

    def common(self, first: int, second: int) -> Bools:
        """Return whether a summary counts for both evaluators, (n,).

        It has a label and the scores of both. At a level that is a mean over articles, or systems, those are
        left out in which only one of the two has a coefficient: what is undefined for one is no win for the
        other.
        """
        pair = min(first, second), max(first, second)
        if pair not in self._common:
            both = self.scored[first] & self.scored[second]
            if self.level.group:
                used, other = (self._used_among(each, both) for each in pair)
                both = both & (used == other)
            self._common[pair] = both
        return self._common[pair]

    def units(self, first: int, second: int) -> int:
        """Return the number of the level's units that both evaluators' coefficients are computed from."""
        return count_units(self.level, self.rows, self._used_among(first, self.common(first, second)))

    def _used_among(self, evaluator: int, kept: Bools) -> Bools:
        """Return which of the summaries `kept` enter the evaluator's coefficient on these, (n,)."""
        key = evaluator, np.packbits(kept).tobytes()
        if key not in self._used:
            scores = np.where(kept, self.rows.scores[evaluator], np.nan)
            (self._used[key],) = used_rows(self.level, self.coefficient, self.rows.with_scores(scores[None]))
        return self._used[key]

    def estimate(self, evaluator: int, kept: Bools) -> Estimate:
        """Return the evaluator's coefficient on the summaries `kept`, computed once."""
        key = evaluator, np.packbits(kept).tobytes()
        if key not in self._estimates:
            own = self.rows.with_scores(self.rows.scores[evaluator])
            self._estimates[key] = self.level.estimate(self.coefficient, own.at(kept))
        return self._estimates[key]

    def difference(self, first: int, second: int) -> float:
        """Return the first coefficient minus the second, on the common summaries."""
        kept = self.common(first, second)
        return self.estimate(first, kept).value - self.estimate(second, kept).value


PairTester = Callable[[int, int], PairTest]
"""Tests a first against a second evaluator; both have a defined coefficient on their common summaries."""


def compared(
    level: str,
    coefficient: str,
    rows: Rows,
    resampling: Resampling,
    orientation: npt.ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
    constant: str = LEFT_OUT,
) -> Compared:
    """Check what `significance.compare_pairs` is given.

    Raises KeyError for a level, coefficient or `constant` that is not there, and ValueError for an
    orientation that is neither 1 nor -1 and, for a yes/no coefficient, a yes/no question's labels outside 0
    to 1.
    """
    size = len(rows.scores)
    signs = np.ones(size) if orientation is None else number_vector("orientation", orientation)
    if len(signs) != size or (np.abs(signs) != 1).any():
        raise ValueError(f"orientation must be 1 or -1 for each of {size} evaluators, not {signs.tolist()}")
    chosen = coefficient_at(level, coefficient, constant)
    by_majority = chosen.is_for_yes_no and rows.yes_no
    return Compared(
        level=LEVELS[level],
        coefficient=chosen,
        rows=replace(
            rows,
            labels=yes_or_no(rows.labels) if by_majority else rows.labels,
            scores=rows.scores * signs[:, None],
        ),
        resampling=resampling,
        is_turned=bool((signs < 0).any()),
        bootstrap=bootstrap,
    )
