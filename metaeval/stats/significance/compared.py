"""Evaluators that are compared with each other two by two, and what comes out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Bools, Floats, Ints, code_vector, number_vector, refuse_unequal_lengths
from metaeval.stats.correlation.coefficients import COEFFICIENTS, Coefficient
from metaeval.stats.correlation.levels import LEVELS, Level
from metaeval.stats.correlation.roc_auc import yes_or_no
from metaeval.stats.result import Estimate
from metaeval.stats.uncertainty.bootstrap import Bootstrap


class PairTest(NamedTuple):
    """What a test says of a first and a second evaluator."""

    p_value: float = np.nan
    """Two-sided, above 0 to 1; nan if the test does not apply."""
    low: float = np.nan
    """95% interval of the difference first minus second; nan if the test gives none."""
    high: float = np.nan
    reason: str = ""
    """Why there is no p-value; empty if there is one."""


@dataclass(frozen=True)
class PairTests:
    """Every two of E evaluators compared; the entry [i, j] is of evaluator i (row) against j (column)."""

    differences: Floats
    """(E, E) coefficient of the row minus that of the column, each on the summaries both have scored."""
    p_values: Floats
    """(E, E) two-sided, symmetric; nan where undefined and on the diagonal."""
    low: Floats
    """(E, E) 95% interval of the difference; nan where the test gives none."""
    high: Floats
    n: Ints
    """(E, E) summaries with a label and a score of both."""
    reasons: Mapping[tuple[int, int], str]
    """Why a p-value is nan: one text for every such entry."""
    definition: str
    """What is compared, on which summaries, by which test: full sentences."""


@dataclass(frozen=True, eq=False)
class Compared:
    """E evaluators' scores of n summaries, turned so that higher is better, and how they are judged."""

    level: Level
    coefficient: Coefficient
    labels: Floats
    """(n,) nan = none; 0, 1 or nan if the coefficient is for yes/no labels."""
    scores: Floats
    """(E, n) nan = none."""
    articles: Ints
    """(n,) negative = not known."""
    systems: Ints
    """(n,) negative = not known."""
    yes_no: bool
    resamples: int
    seed: int
    is_turned: bool
    """Whether some evaluator's scores were negated."""
    bootstrap: Bootstrap | None = None
    """Over articles, of the same evaluators on all labelled summaries, if it is there already."""

    @cached_property
    def scored(self) -> Bools:
        """(E, n) whether a summary has both a label and the evaluator's score."""
        return ~np.isnan(self.scores) & ~np.isnan(self.labels)

    @cached_property
    def own_articles(self) -> Ints:
        """(n,) the articles, with a new one for each summary whose article is not known."""
        new = self.articles.max(initial=0) + 1 + np.arange(len(self.articles))
        return np.where(self.articles < 0, new, self.articles)

    def used(self, first: int, second: int) -> Ints:
        """The places of the common summaries that the level makes use of."""
        return np.flatnonzero(self.common(first, second) & self.has_group)

    @cached_property
    def has_group(self) -> Bools:
        """(n,) whether the level makes use of a summary: whether its article, or its system, is known."""
        if self.level.name == "pooled":
            return np.ones(len(self.labels), dtype=bool)
        return (self.articles if self.level.name == "article" else self.systems) >= 0

    @cached_property
    def _estimates(self) -> dict[tuple[int, bytes], Estimate]:
        return {}

    def common(self, first: int, second: int) -> Bools:
        """(n,) whether a summary has a label and the scores of both evaluators."""
        return self.scored[first] & self.scored[second]

    def estimate(self, evaluator: int, kept: Bools) -> Estimate:
        """The evaluator's coefficient on the summaries `kept`, computed once."""
        key = evaluator, np.packbits(kept).tobytes()
        if key not in self._estimates:
            self._estimates[key] = self.level.estimate(
                self.coefficient,
                self.labels[kept],
                self.scores[evaluator, kept],
                self.articles[kept],
                self.systems[kept],
                yes_no=self.yes_no,
            )
        return self._estimates[key]

    def difference(self, first: int, second: int) -> float:
        """The first one's coefficient minus the second's, on their common summaries."""
        kept = self.common(first, second)
        return self.estimate(first, kept).value - self.estimate(second, kept).value


PairTester = Callable[[int, int], PairTest]
"""Tests a first against a second evaluator; both have a defined coefficient on their common summaries."""


def compared(
    level: str,
    coefficient: str,
    labels: npt.ArrayLike,
    scores: npt.ArrayLike,
    articles: npt.ArrayLike,
    systems: npt.ArrayLike,
    *,
    yes_no: bool,
    resamples: int,
    seed: int,
    orientation: npt.ArrayLike | None,
    bootstrap: Bootstrap | None,
) -> Compared:
    """Check what `significance.compare_pairs` is given.

    Raises KeyError for a level or coefficient that is not there, and ValueError for unequal lengths, infinite
    numbers, codes that are not whole numbers, labels outside 0 to 1 where they should be means of Yes = 1 and
    No = 0, an orientation that is neither 1 nor -1, and fewer than one resample.
    """
    label = number_vector("labels", labels)
    rows = [number_vector(f"scores[{row}]", values) for row, values in enumerate(np.asarray(scores))]
    article = code_vector("articles", articles)
    system = code_vector("systems", systems)
    refuse_unequal_lengths(
        labels=label,
        articles=article,
        systems=system,
        **{f"scores[{at}]": row for at, row in enumerate(rows)},
    )
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}: at least one is needed")
    signs = np.ones(len(rows)) if orientation is None else number_vector("orientation", orientation)
    if len(signs) != len(rows) or (np.abs(signs) != 1).any():
        raise ValueError(
            f"orientation must be 1 or -1 for each of {len(rows)} evaluators, not {signs.tolist()}"
        )
    chosen = COEFFICIENTS[coefficient]
    return Compared(
        level=LEVELS[level],
        coefficient=chosen,
        labels=yes_or_no(label) if chosen.is_for_yes_no and yes_no else label,
        scores=np.array(rows).reshape(len(rows), len(label)) * signs[:, None],
        articles=article,
        systems=system,
        yes_no=yes_no,
        resamples=resamples,
        seed=seed,
        is_turned=bool((signs < 0).any()),
        bootstrap=bootstrap,
    )
