"""How sure the figures of one dimension are: their intervals, and which evaluators are told apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.judgements import Evaluator, Labels
from metaeval.method import CORRECTION_LABELS, NONE, Method
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.result import Estimate, Interval
from metaeval.stats.significance.compare_pairs import compare_pairs
from metaeval.stats.significance.compared import PairTests
from metaeval.stats.significance.corrections import CORRECTIONS
from metaeval.stats.significance.rank_clusters import rank_clusters
from metaeval.stats.uncertainty.bootstrap import Bootstrap, Resampling
from metaeval.stats.uncertainty.intervals import INTERVALS, intervals

SIGNIFICANT = 0.05
"""The p-value, after correction, below which two evaluators are told apart."""


@dataclass(frozen=True, eq=False)
class Column:
    """What evaluators and people say on one dimension, of the n summaries that are counted."""

    labels: Labels
    evaluators: tuple[Evaluator, ...]
    human: Floats
    """(n,) labels, nan where there is none."""
    human_order: Floats
    """(n,) whole numbers in the same order, which need no sorting."""
    scores: Floats
    """(evaluators, n), nan where there is none."""
    scores_order: Floats
    """(evaluators, n), likewise."""
    articles: Ints
    """(n,)"""
    systems: Ints
    """(n,)"""

    def estimates(
        self, level: str, coefficient: str, places: Sequence[int], *, negated: bool = False
    ) -> list[Estimate]:
        """The coefficient of the human labels with the scores, or negated scores, of the evaluators there."""
        by_order = COEFFICIENTS[coefficient].is_of_order and not LEVELS[level].is_of_means
        scores = self.scores_order if by_order else self.scores
        return LEVELS[level].estimates(
            COEFFICIENTS[coefficient],
            self.human_order if by_order else self.human,
            [-scores[place] if negated else scores[place] for place in places],
            self.articles,
            self.systems,
            yes_no=self.labels.is_yes_no,
        )


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Of the figures of one dimension."""

    intervals: Mapping[str, Interval]
    """By the evaluator's key; empty if none are wanted."""
    clusters: Mapping[str, str]
    """Letters by the evaluator's key: those that share one are not told apart. An evaluator without a figure
    has none; nobody has where two of the others could not be tested."""
    tests: PairTests | None
    adjusted: Floats
    """(evaluators, evaluators) p-values after the correction; nan where there is none."""
    definition: str = ""
    """How evaluators were told apart: full sentences. Empty without a test."""

    @property
    def told_apart(self) -> Bools:
        """(evaluators, evaluators)"""
        return self.adjusted < SIGNIFICANT


def uncertainty(column: Column, method: Method, merits: Sequence[float]) -> Uncertainty:
    """All that `method` asks for beside the figures themselves; `merits`, (evaluators,), rank them."""
    keys = [evaluator.key for evaluator in column.evaluators]
    nothing = np.full((len(keys), len(keys)), np.nan)
    data = (column.human, column.scores, column.articles, column.systems)
    yes_no = column.labels.is_yes_no
    found: dict[str, Interval] = {}
    bootstrap = None
    if method.interval != NONE and INTERVALS[method.interval].scheme == "articles" and keys:
        resampling = Resampling("articles", method.level, method.coefficient, *data, yes_no=yes_no)
        bootstrap = Bootstrap(resampling, method.resamples, method.seed)
    if method.interval != NONE and keys:
        each = intervals(
            method.interval,
            method.level,
            method.coefficient,
            *data,
            yes_no=yes_no,
            resamples=method.resamples,
            seed=method.seed,
            bootstrap=bootstrap,
        )
        found = dict(zip(keys, each, strict=True))
    if method.test == NONE or len(keys) < 2:
        return Uncertainty(found, {}, None, nothing)
    tests = compare_pairs(
        method.test,
        method.level,
        method.coefficient,
        *data,
        orientation=np.array([1 if each.higher_is_better else -1 for each in column.evaluators]),
        yes_no=yes_no,
        resamples=method.resamples,
        seed=method.seed,
        bootstrap=bootstrap,
    )
    adjusted = _adjusted(tests.p_values, method.correction)
    if method.correction == NONE:
        correction = "not corrected for their number"
    else:
        correction = f"corrected for the pairs of a dimension by {CORRECTION_LABELS[method.correction]}"
    definition = f"{tests.definition} The p-values are {correction}; below .05 two evaluators are told apart."
    return Uncertainty(found, _letters(keys, merits, adjusted), tests, adjusted, definition)


def _letters(keys: Sequence[str], merits: Sequence[float], adjusted: Floats) -> dict[str, str]:
    ranked = np.flatnonzero(~np.isnan(merits))
    among = adjusted[np.ix_(ranked, ranked)]
    if np.isnan(among[np.triu_indices(len(ranked), 1)]).any():
        return {}
    letters = rank_clusters(np.asarray(merits)[ranked], among < SIGNIFICANT)
    return {keys[place]: letter for place, letter in zip(ranked.tolist(), letters, strict=True)}


def _adjusted(p_values: Floats, correction: str) -> Floats:
    """The p-values of all pairs of one dimension, corrected as one family."""
    if correction == NONE:
        return p_values
    upper = np.triu_indices(len(p_values), 1)
    adjusted = np.full_like(p_values, np.nan)
    adjusted[upper] = CORRECTIONS[correction](p_values[upper])
    adjusted.T[upper] = adjusted[upper]
    return adjusted
