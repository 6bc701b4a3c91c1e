"""The uncertainty of the figures of one dimension: intervals and significance tests. Pure."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations

import numpy as np

from metaeval.snapshot.arrays import Labels, SetupScores
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation.constant_scores import LEFT_OUT, coefficient_at
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.correlation.soft_accuracy import SOFT_ACCURACY, soft_accuracies
from metaeval.stats.correlation.used_rows import are_units_equal
from metaeval.stats.method import CORRECTION_LABELS, NONE, Method
from metaeval.stats.result import Estimate, Interval, or_none
from metaeval.stats.rows import Rows
from metaeval.stats.significance.compare_pairs import compare_pairs, pair_differences
from metaeval.stats.significance.compared import MarginTests, PairTests, compared
from metaeval.stats.significance.corrections import CORRECTIONS, corrected_pairs
from metaeval.stats.significance.rank_clusters import rank_clusters, tested_with_each_other
from metaeval.stats.significance.replicates import ROUNDING
from metaeval.stats.uncertainty.bootstrap import Bootstrap
from metaeval.stats.uncertainty.intervals import INTERVALS, intervals

SIGNIFICANT = 0.05
"""Two evaluators differ significantly if the corrected p-value is below this."""
NAMED_PAIRS = 3


@dataclass(frozen=True, eq=False)
class Column:
    """Labels and scores on one dimension, of the summaries that count."""

    labels: Labels
    evaluators: tuple[SetupScores, ...]
    rows: Rows
    order: Rows
    """The same, with labels and scores replaced by integers in the same order, which are faster to rank."""
    seen: Bools
    """(evaluators, n) the summaries left out for an evaluator because their articles were seen."""
    why_seen: tuple[Mapping[str, int], ...]
    """(evaluators,) reason -> articles left out because they were seen."""

    @cached_property
    def _seen_alike(self) -> list[tuple[list[int], Bools]]:
        """The places of evaluators that the same summaries are left out for, and which summaries count."""
        alike: dict[bytes, list[int]] = {}
        for place, own in enumerate(self.seen):
            alike.setdefault(own.tobytes(), []).append(place)
        return [(places, ~self.seen[places[0]]) for places in alike.values()]

    @cached_property
    def is_any_seen(self) -> bool:
        return bool(self.seen.any())

    @property
    def shared_articles(self) -> int:
        """The number of labelled articles with a summary that all evaluators with scores have scored."""
        missing = np.isnan(self.rows.scores)
        by_all = missing[~missing.all(axis=1)].sum(axis=0) == 0
        return self._count_articles(by_all)

    @property
    def labelled_articles(self) -> int:
        return self._count_articles(np.ones(len(self.rows), dtype=bool))

    def _count_articles(self, chosen: Bools) -> int:
        return len(np.unique(self.rows.own_articles[chosen & ~np.isnan(self.rows.labels)]))

    def estimates(
        self,
        level: str,
        coefficient: str,
        places: Sequence[int],
        *,
        negated: bool = False,
        constant: str = LEFT_OUT,
    ) -> list[Estimate]:
        """Return the coefficient of the evaluators at `places`, with their scores or negated scores.

        The coefficient is one of `COEFFICIENTS`, or SOFT_ACCURACY.
        """
        if coefficient == SOFT_ACCURACY:
            rows, compute = self.rows, partial(soft_accuracies, LEVELS[level])
        else:
            chosen = coefficient_at(level, coefficient, constant)
            by_order = chosen.is_of_order and not LEVELS[level].is_of_means
            rows = self.order if by_order else self.rows
            compute = partial(LEVELS[level].estimates, chosen)
        found: dict[int, Estimate] = {}
        for alike, counted in self._seen_alike:
            those = [place for place in places if place in alike]
            scores = rows.scores[those]
            own = rows.with_scores(-scores if negated else scores)
            own = own.at(counted) if self.is_any_seen else own
            found |= dict(zip(those, compute(own), strict=True))
        return [found[place] for place in places]

    def are_units_equal(self, method: Method, places: Sequence[int]) -> bool:
        """Return whether the figures of the evaluators at `places` are computed from the same summaries."""
        chosen = coefficient_at(method.level, method.coefficient, method.constant)
        rows = self.rows.with_scores(self.rows.scores[list(places)])
        return are_units_equal(LEVELS[method.level], chosen, rows)

    @cached_property
    def unseen_rows(self) -> Rows:
        """The rows without those that every evaluator loses because they were seen."""
        by_all = self.seen.sum(axis=0) == len(self.seen)
        return self.rows.at(~by_all) if self.is_any_seen else self.rows

    def intervals(self, method: Method, bootstrap: Bootstrap | None) -> dict[str, Interval]:
        """Return the interval of each evaluator by its key, from articles that it has not seen.

        `bootstrap` is one over articles of the `unseen_rows`, if it was drawn already.
        """
        found = self._intervals_of(range(len(self.evaluators)), self.unseen_rows, method, bootstrap)
        for places, counted in self._seen_alike:
            if counted.sum() < len(self.unseen_rows):
                found |= self._intervals_of(places, self.rows.at(counted), method, None)
        return found

    def _intervals_of(
        self, places: Sequence[int], rows: Rows, method: Method, bootstrap: Bootstrap | None
    ) -> dict[str, Interval]:
        found = intervals(
            method.interval,
            method.level,
            method.coefficient,
            rows.with_scores(rows.scores[list(places)]),
            method.resampling,
            bootstrap=bootstrap,
            constant=method.constant,
        )
        return {self.evaluators[place].key: own for place, own in zip(places, found, strict=True)}


@dataclass(frozen=True)
class PairFigure:
    """One evaluator compared with another on the units that both have."""

    other: str
    """The other evaluator's label."""
    difference: float
    """The difference of the coefficients; above 0 if the first is better. nan if undefined."""
    p_value: float
    """Corrected p-value; nan if there is none."""
    n: int
    """Summaries that count for both."""
    units: int
    """Summaries, articles or systems among them, whatever the level takes its mean or coefficient over."""
    reason: str
    """The reason why there is no p-value; else empty."""
    is_significant: bool
    within_margin: "WithinMargin | None" = None
    """The tests with a margin; none without one."""

    @property
    def is_defined(self) -> bool:
        return not math.isnan(self.difference)

    @property
    def has_p_value(self) -> bool:
        return not math.isnan(self.p_value)

    def as_json(self) -> dict[str, object]:
        """Return the fields of a file's row."""
        return {
            "other": self.other,
            "difference": or_none(self.difference),
            "p_value": or_none(self.p_value),
            "significant": self.is_significant,
            "n": self.n,
            "units": self.units,
            "reason": self.reason,
            **({"within_margin": self.within_margin.as_json()} if self.within_margin else {}),
        }


@dataclass(frozen=True)
class WithinMargin:
    """One evaluator that may be as good as another, within a margin. The p-values are corrected."""

    margin: float
    not_worse_p: float
    """p-value of the first being worse by the margin or more; nan if there is none."""
    equivalent_p: float
    """p-value of a difference of the margin or more, in either direction; nan if there is none."""
    reason: str
    """The reason why there is no p-value; else empty."""

    @property
    def is_as_good(self) -> bool:
        return self.not_worse_p < SIGNIFICANT

    @property
    def is_equivalent(self) -> bool:
        return self.equivalent_p < SIGNIFICANT

    def as_json(self) -> dict[str, object]:
        """Return the fields of a row."""
        return {
            "margin": self.margin,
            "not_worse_p": or_none(self.not_worse_p),
            "as_good": self.is_as_good,
            "equivalent_p": or_none(self.equivalent_p),
            "equivalent": self.is_equivalent,
            "margin_reason": self.reason,
        }


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Intervals and tests of the figures of one dimension."""

    intervals: Mapping[str, Interval]
    """Intervals by the evaluator's key; empty if the method computes none."""
    best: frozenset[str] | None
    """Keys of the evaluators that beat or equal every other on the units that both have. None where all have
    equal units, so that their values show it."""
    clusters: Mapping[str, str] = field(default_factory=dict)
    """Letters by the evaluator's key. Evaluators that share one do not differ significantly. Those without a
    figure have none, nor those with the most pairs that could not be tested, until all others were."""
    pairs: Mapping[str, Mapping[str, PairFigure]] = field(default_factory=dict)
    """Tests by the evaluator's key and the other's; empty without a test."""
    why_no_letters: str = ""
    """The reason why a test gives some of the evaluators no letters; else empty."""
    definition: str = ""
    """The definition of the test, in full sentences. Empty without a test."""
    method_warning: str = ""
    """Warnings that the interval or the test misleads at the level; else empty."""


def uncertainty(
    column: Column, method: Method, merits: Sequence[float], *, are_units_equal: bool
) -> Uncertainty:
    """Return intervals and tests by `method`; `merits`, (evaluators,), rank the evaluators."""
    found = _uncertainty(column, method, merits, are_units_equal=are_units_equal)
    return replace(found, method_warning=" ".join(method.warnings))


def _uncertainty(
    column: Column, method: Method, merits: Sequence[float], *, are_units_equal: bool
) -> Uncertainty:
    keys = [evaluator.key for evaluator in column.evaluators]
    found: dict[str, Interval] = {}
    bootstrap = None
    if method.interval != NONE and INTERVALS[method.interval].scheme == "articles" and keys:
        bootstrap = Bootstrap(
            "articles",
            method.level,
            method.coefficient,
            column.unseen_rows,
            method.resampling,
            constant=method.constant,
        )
    if method.interval != NONE and keys:
        found = column.intervals(method, bootstrap)
    if len(keys) < 2:
        return Uncertainty(found, None)
    orientation = np.array([1 if each.higher_is_better else -1 for each in column.evaluators])
    if method.test == NONE:
        if are_units_equal:
            return Uncertainty(found, None)
        differences = pair_differences(
            compared(
                method.level,
                method.coefficient,
                column.rows,
                method.resampling,
                orientation,
                constant=method.constant,
            )
        ).differences
        return Uncertainty(found, _best(keys, merits, differences))
    tests = compare_pairs(
        method.test,
        method.level,
        method.coefficient,
        column.rows,
        method.resampling,
        orientation=orientation,
        bootstrap=bootstrap,
        constant=method.constant,
        margin=method.margin,
    )
    adjusted = (
        tests.p_values if method.correction == NONE else corrected_pairs(tests.p_values, method.correction)
    )
    if method.correction == NONE:
        correction = "not corrected for their number"
    else:
        correction = f"corrected for the pairs of a dimension by {CORRECTION_LABELS[method.correction]}"
    definition = f"{tests.definition} The p-values are {correction}; below .05 the difference is significant."
    if tests.within_margin:
        in_both_orders = f"Its p-values are {correction}, each pair counting in both orders."
        definition = f"{definition} {tests.within_margin.definition} {in_both_orders}"
    ranked = np.flatnonzero(~np.isnan(merits))
    tested = tested_with_each_other(tests.p_values, ranked)
    # Unequal units: the values do not rank evaluators, their differences do.
    ranks = np.asarray(merits) if are_units_equal else np.nan_to_num(tests.differences[:, tested]).sum(axis=1)
    return Uncertainty(
        found,
        None if are_units_equal else _best(keys, merits, tests.differences),
        _letters(keys, tested, ranks, adjusted),
        _pairs(column, tests, adjusted, method.correction),
        _why_no_letters(column, tests, ranked.tolist()),
        definition,
    )


def _best(keys: Sequence[str], merits: Sequence[float], differences: Floats) -> frozenset[str]:
    ranked = np.flatnonzero(~np.isnan(merits)).tolist()
    return frozenset(
        keys[row]
        for row in ranked
        if len(ranked) > 1 and all(differences[row, other] >= -ROUNDING for other in ranked if other != row)
    )


def _why_no_letters(column: Column, tests: PairTests, ranked: Sequence[int]) -> str:
    """Say why some of the evaluators `ranked` could not be tested; empty if all were."""
    pairs: dict[str, list[str]] = {}
    for first, second in combinations(ranked, 2):
        if np.isnan(tests.p_values[first, second]):
            named = " and ".join(column.evaluators[place].label for place in (first, second))
            pairs.setdefault(tests.reasons[first, second], []).append(named)
    everyone = len(ranked) * (len(ranked) - 1) // 2
    return "; ".join(
        reason if len(named) == everyone else f"{reason} ({_first(named)})" for reason, named in pairs.items()
    )


def _first(named: Sequence[str]) -> str:
    rest = len(named) - NAMED_PAIRS
    return ", ".join(named[:NAMED_PAIRS]) + (f" and {rest} more pairs" if rest > 0 else "")


def _letters(keys: Sequence[str], tested: Ints, ranks: Floats, adjusted: Floats) -> dict[str, str]:
    letters = rank_clusters(ranks[tested], adjusted[np.ix_(tested, tested)] < SIGNIFICANT)
    return {keys[place]: letter for place, letter in zip(tested.tolist(), letters, strict=True)}


def _pairs(
    column: Column, tests: PairTests, adjusted: Floats, correction: str
) -> dict[str, dict[str, PairFigure]]:
    evaluators = list(enumerate(column.evaluators))
    within = _within_margin(tests.within_margin, correction) if tests.within_margin else None
    return {
        own.key: {
            other.key: PairFigure(
                other=other.label,
                difference=float(tests.differences[row, at]),
                p_value=float(adjusted[row, at]),
                n=int(tests.n[row, at]),
                units=int(tests.units[row, at]),
                reason=tests.reasons.get((row, at), ""),
                is_significant=bool(adjusted[row, at] < SIGNIFICANT),
                within_margin=within(row, at) if within else None,
            )
            for at, other in evaluators
            if at != row
        }
        for row, own in evaluators
    }


def _within_margin(tests: MarginTests, correction: str) -> Callable[[int, int], WithinMargin]:
    """Return the corrected tests of an evaluator against another, by their places."""
    not_worse = tests.not_worse.copy()
    if correction != NONE:
        there = ~np.isnan(not_worse)
        not_worse[there] = CORRECTIONS[correction](not_worse[there])
    equivalent = np.maximum(not_worse, not_worse.T)
    return lambda row, at: WithinMargin(
        tests.margin,
        float(not_worse[row, at]),
        float(equivalent[row, at]),
        tests.reasons.get((row, at), ""),
    )
