"""The uncertainty of the figures of one dimension: intervals and significance tests. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.snapshot.arrays import Labels, SetupScores
from metaeval.stats.arrays import Bools, Floats
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import CORRECTION_LABELS, NONE, Method
from metaeval.stats.result import Estimate, Interval
from metaeval.stats.rows import Rows
from metaeval.stats.significance.compare_pairs import compare_pairs
from metaeval.stats.significance.compared import PairTests
from metaeval.stats.significance.corrections import CORRECTIONS
from metaeval.stats.significance.rank_clusters import rank_clusters
from metaeval.stats.uncertainty.bootstrap import Bootstrap
from metaeval.stats.uncertainty.intervals import INTERVALS, intervals

SIGNIFICANT = 0.05
"""Two evaluators differ significantly if the corrected p-value is below this."""


@dataclass(frozen=True, eq=False)
class Column:
    """Labels and scores on one dimension, of the summaries that count."""

    labels: Labels
    evaluators: tuple[SetupScores, ...]
    rows: Rows
    order: Rows
    """The same, with labels and scores replaced by integers in the same order, which are faster to rank."""

    def estimates(
        self, level: str, coefficient: str, places: Sequence[int], *, negated: bool = False
    ) -> list[Estimate]:
        """Return the coefficient of the evaluators at `places`, with their scores or negated scores."""
        by_order = COEFFICIENTS[coefficient].is_of_order and not LEVELS[level].is_of_means
        rows = self.order if by_order else self.rows
        scores = rows.scores[list(places)]
        chosen = rows.with_scores(-scores if negated else scores)
        return LEVELS[level].estimates(COEFFICIENTS[coefficient], chosen)


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Intervals and tests of the figures of one dimension."""

    intervals: Mapping[str, Interval]
    """By the evaluator's key; empty if the method computes none."""
    clusters: Mapping[str, str]
    """Letters by the evaluator's key. Evaluators that share one do not differ significantly. An evaluator
    without a figure has none; no one has any if two of the others could not be tested."""
    tests: PairTests | None
    adjusted: Floats
    """(evaluators, evaluators) corrected p-values; nan if there is none."""
    definition: str = ""
    """How the test works: full sentences. Empty without a test."""

    @property
    def significant(self) -> Bools:
        """(evaluators, evaluators) whether they differ significantly."""
        return self.adjusted < SIGNIFICANT


def uncertainty(column: Column, method: Method, merits: Sequence[float]) -> Uncertainty:
    """Return intervals and tests by `method`; `merits`, (evaluators,), rank the evaluators."""
    keys = [evaluator.key for evaluator in column.evaluators]
    nothing = np.full((len(keys), len(keys)), np.nan)
    found: dict[str, Interval] = {}
    bootstrap = None
    if method.interval != NONE and INTERVALS[method.interval].scheme == "articles" and keys:
        bootstrap = Bootstrap("articles", method.level, method.coefficient, column.rows, method.resampling)
    if method.interval != NONE and keys:
        each = intervals(
            method.interval,
            method.level,
            method.coefficient,
            column.rows,
            method.resampling,
            bootstrap=bootstrap,
        )
        found = dict(zip(keys, each, strict=True))
    if method.test == NONE or len(keys) < 2:
        return Uncertainty(found, {}, None, nothing)
    tests = compare_pairs(
        method.test,
        method.level,
        method.coefficient,
        column.rows,
        method.resampling,
        orientation=np.array([1 if each.higher_is_better else -1 for each in column.evaluators]),
        bootstrap=bootstrap,
    )
    adjusted = _adjusted(tests.p_values, method.correction)
    if method.correction == NONE:
        correction = "not corrected for their number"
    else:
        correction = f"corrected for the pairs of a dimension by {CORRECTION_LABELS[method.correction]}"
    definition = f"{tests.definition} The p-values are {correction}; below .05 the difference is significant."
    return Uncertainty(found, _letters(keys, merits, adjusted), tests, adjusted, definition)


def _letters(keys: Sequence[str], merits: Sequence[float], adjusted: Floats) -> dict[str, str]:
    ranked = np.flatnonzero(~np.isnan(merits))
    among = adjusted[np.ix_(ranked, ranked)]
    if np.isnan(among[np.triu_indices(len(ranked), 1)]).any():
        return {}
    letters = rank_clusters(np.asarray(merits)[ranked], among < SIGNIFICANT)
    return {keys[place]: letter for place, letter in zip(ranked.tolist(), letters, strict=True)}


def _adjusted(p_values: Floats, correction: str) -> Floats:
    """Return the p-values of all pairs of one dimension, corrected together."""
    if correction == NONE:
        return p_values
    upper = np.triu_indices(len(p_values), 1)
    adjusted = np.full_like(p_values, np.nan)
    adjusted[upper] = CORRECTIONS[correction](p_values[upper])
    adjusted.T[upper] = adjusted[upper]
    return adjusted
