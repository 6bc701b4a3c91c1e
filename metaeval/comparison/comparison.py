"""The comparison of evaluators with human labels, under the contamination guard. Pure."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from metaeval.comparison.uncertainty import Column, PairFigure, Uncertainty, uncertainty
from metaeval.snapshot.arrays import ALL, Labels, Scores, SetupScores, Summaries, read_only
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.check_choice import check_choice
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.correlation.paired import NO_SCORE, TIED_LABEL
from metaeval.stats.method import Method
from metaeval.stats.result import Estimate, reasons, value_and_ends
from scoring.contract.seen import EVERY_DIMENSION

NOT_SCORED_YET = "not scored yet"
NOT_SCORED_BY_ALL = "not scored by every compared evaluator"
SEEN = "article seen by the evaluator"
GUARD = (
    "Articles that an evaluator has seen (as examples, in training, or to choose a prompt or a threshold) are"
    " left out of its figures and of every comparison with it; where only labels were seen, on their"
    " dimension."
)
MUCH_FEWER = 0.5
"""A figure on less than this share of the most units on its dimension is marked."""
NAMED_IN_A_REASON = 3  # evaluators; further ones are counted


@dataclass(frozen=True)
class ComparisonFigure:
    """One coefficient between one evaluator's scores and the human labels on one dimension."""

    evaluator: SetupScores
    labels: Labels
    level: str
    coefficient: str
    estimate: Estimate
    merit: float
    """The coefficient's value, of negated scores if lower is better. nan if undefined."""
    few_units: str = ""
    """Warning that it has much fewer units than others on the dimension, with the reason; else empty."""
    is_best: bool = False
    """True if no other evaluator on the dimension is better on the units that both have; False if it is the
    only one, or on much fewer units than others."""
    cluster: str = ""
    """Letters. Evaluators that share one do not differ significantly. Empty without a test."""
    pairs: tuple[PairFigure, ...] = ()
    """The differences from every other evaluator on the dimension; empty without a test."""
    why_no_letters: str = ""
    test_definition: str = ""
    """The definition of the letters, in full sentences."""
    method_warning: str = ""
    """Warnings that the interval or the test misleads at the level; else empty."""

    @property
    def definitions(self) -> tuple[str, ...]:
        """Return the definitions of value, interval, letters, label and exclusions, in full sentences."""
        interval = self.estimate.interval
        of_interval = (interval.definition,) if interval else ()
        of_letters = (self.test_definition,) if self.pairs else ()
        return self.estimate.definition, *of_interval, *of_letters, self.labels.definition, GUARD

    @property
    def units(self) -> int:
        """Return the number of the level's units that the value is computed from."""
        return units_of(self.level, self.estimate)

    def with_uncertainty(self, uncertain: Uncertainty) -> "ComparisonFigure":
        """Return the figure with its interval, letters and differences, if there are any."""
        key = self.evaluator.key
        return replace(
            self,
            estimate=replace(self.estimate, interval=uncertain.intervals.get(key)),
            is_best=self.is_best if uncertain.best is None else key in uncertain.best and not self.few_units,
            cluster=uncertain.clusters.get(key, ""),
            pairs=tuple(uncertain.pairs.get(key, {}).values()),
            why_no_letters="" if key in uncertain.clusters else uncertain.why_no_letters,
            test_definition=uncertain.definition,
            method_warning=uncertain.method_warning,
        )

    def as_json(self) -> dict[str, object]:
        """Return the row of a file or API result, with `reason` if there is no value."""
        row: dict[str, object] = {
            "evaluator": self.evaluator.label,
            "fingerprint": self.evaluator.fingerprint,
            "dimension": self.labels.dimension,
            "level": self.level,
            "coefficient": self.coefficient,
            **value_and_ends(self.estimate.value, self.estimate.interval),
            "n": self.estimate.n,
            "articles": self.estimate.articles,
            "systems": self.estimate.systems,
            "units": self.units,
            "unit": LEVELS[self.level].units,
            "left_out": dict(self.estimate.left_out),
            "definition": " ".join(self.definitions),
        }
        further: dict[str, object] = {
            "counted_as_zero": dict(self.estimate.counted_as_zero),
            "warning": self.labels.warning,
            "method_warning": self.method_warning,
            "few_units": self.few_units,
            "is_best": self.is_best,
            "cluster": self.cluster,
            "why_no_letters": self.why_no_letters,
            "differences": [pair.as_json() for pair in self.pairs],
        }
        row |= {name: value for name, value in further.items() if value}
        return row | reasons(self.estimate.reason, self.estimate.interval)


@dataclass(frozen=True, eq=False)
class Pairs:
    """The summaries with both label and score; all arrays are (n,)."""

    places: Ints
    """Indices among all summaries."""
    labels: Floats
    label_order: Floats
    """Integers in the same order, which are faster to rank."""
    scores: Floats
    score_order: Floats
    systems: Ints
    """Indices among the names of systems."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """The compared evaluators, and the summaries that count for all of them."""

    summaries: Summaries
    evaluators: tuple[SetupScores, ...]
    """Evaluators with the scores that count for them, which may leave out articles that count for others."""
    counted: Bools
    """(summaries,) the chosen ones, without those that are left out for all because they were seen."""
    seen: dict[str, int]
    """Reason -> articles left out, for one evaluator or for all, because they were seen."""
    seen_by: Mapping[str, Mapping[str, Bools]]
    """Key -> dimension -> (summaries,) whose articles it has seen, for evaluators that lose articles of their
    own. EVERY_DIMENSION stands for the dimensions not named."""
    _columns: dict[tuple[Labels, str], Column] = field(default_factory=dict, init=False, repr=False)
    _scores: dict[tuple[tuple[Scores, ...], str], tuple[Floats, Floats]] = field(
        default_factory=dict, init=False, repr=False
    )

    @property
    def n_seen(self) -> int:
        """The number of articles that are left out, for one evaluator or for all."""
        if not self.seen_by:
            return sum(self.seen.values())
        masks = [mask for by_dimension in self.seen_by.values() for mask in by_dimension.values()]
        return len(np.unique(self.summaries.articles[np.any(masks, axis=0)]))

    def column(self, labels: Labels, items: str = "own") -> Column:
        """Return the scores of all evaluators on the labels' dimension; cached.

        `items` is one of `ITEMS`: with "common", only summaries that every evaluator has scored count.
        """
        if (labels, items) not in self._columns:
            self._columns[labels, items] = self._column(labels, items)
        return self._columns[labels, items]

    def _column(self, labels: Labels, items: str) -> Column:
        scorers = tuple(each for each in self.evaluators if each.on(labels.dimension) is not None)
        scores, order = self._matrices(
            tuple(evaluator.scores_on(labels.dimension) for evaluator in scorers), items
        )
        rows = self.summaries.rows(self.counted, labels, scores)
        in_order = replace(rows, labels=labels.order[self.counted], scores=order)
        seen = [self._seen_by(each, labels.dimension) for each in scorers]
        why_seen = [self.why_seen([each], labels.dimension) for each in scorers]
        if items == "common":
            those = [each for each in scorers if each.scores_on(labels.dimension).has_any(self.counted)]
            by_any = np.zeros(len(rows), dtype=bool)
            for each in those:
                by_any |= self._seen_by(each, labels.dimension)
            seen = [by_any] * len(scorers)
            why_seen = [self.why_seen(those, labels.dimension)] * len(scorers)
        return Column(labels, scorers, rows, in_order, np.array(seen, dtype=bool), tuple(why_seen))

    def _seen_by(self, evaluator: SetupScores, dimension: str) -> Bools:
        """Return which of the counted summaries only this evaluator loses on the dimension, (counted,)."""
        if evaluator.key in self.seen_by:
            return _on(dimension, self.seen_by[evaluator.key])[self.counted]
        return np.zeros(int(self.counted.sum()), dtype=bool)

    def why_seen(self, evaluators: Sequence[SetupScores], dimension: str | None = None) -> dict[str, int]:
        """Return reason -> articles left out of what stands on the scores of all of these.

        Without a `dimension`, the reason names the dimensions unless it is true of all.
        """
        if not self.seen_by:
            return self.seen
        found = []
        for each in evaluators:
            if each.key in self.seen_by:
                masks = self.seen_by[each.key]
                wanted = masks if dimension is None else {EVERY_DIMENSION: _on(dimension, masks)}
                found.append((each.label, wanted))
        return _why_seen(self.summaries.articles, found)

    def _matrices(self, given: tuple[Scores, ...], items: str) -> tuple[Floats, Floats]:
        """Return (scorers, counted) the scores and (scorers, counted) their order; cached."""
        if (given, items) not in self._scores:
            places = np.flatnonzero(self.counted)
            scores = np.array([each.values.take(places) for each in given]).reshape(len(given), len(places))
            order = np.array([each.order.take(places) for each in given]).reshape(len(given), len(places))
            if items == "common":
                there = ~np.isnan(scores).all(axis=1)  # those without any score take nothing from others
                missing = np.isnan(scores[there]).any(axis=0)
                scores[:, missing] = order[:, missing] = np.nan
            self._scores[given, items] = read_only(scores), read_only(order)
        return self._scores[given, items]

    def figure(
        self,
        evaluator: SetupScores,
        labels: Labels,
        level: str,
        coefficient: str,
        items: str = "own",
        constant: str = Method.constant,
    ) -> ComparisonFigure:
        """Return one figure. Raises KeyError if the evaluator does not score the dimension."""
        column = self.column(labels, items)
        evaluator.scores_on(labels.dimension)
        place = [each.key for each in column.evaluators].index(evaluator.key)
        return self._figures(column, [place], level, coefficient, constant)[0]

    def column_figures(self, column: Column, method: Method) -> tuple[list[ComparisonFigure], bool]:
        """Return the figure of each evaluator on one dimension, and whether all have equal units.

        The best is marked only if they do: values on unequal units are not compared.
        """
        everyone = range(len(column.evaluators))
        figures = self._figures(column, everyone, method.level, method.coefficient, method.constant)
        defined = [place for place, figure in enumerate(figures) if not math.isnan(figure.merit)]
        if len(defined) < 2:
            return figures, True
        are_equal = column.are_units_equal(method, defined)
        best = max(figures[place].merit for place in defined)
        most = max(figures[place].units for place in defined)
        return [
            replace(figure, is_best=are_equal and figure.merit == best, few_units=_few_units(figure, most))
            for figure in figures
        ], are_equal

    def pairs(self, evaluator: SetupScores, labels: Labels) -> Pairs:
        """Return the summaries of a figure. Raises KeyError if the evaluator does not score the dimension."""
        scores = evaluator.scores_on(labels.dimension)
        both = np.flatnonzero(self.counted & ~np.isnan(labels.values) & ~np.isnan(scores.values))
        return Pairs(
            places=both,
            labels=labels.values[both],
            label_order=labels.order[both],
            scores=scores.values[both],
            score_order=scores.order[both],
            systems=self.summaries.systems[both],
        )

    def _figures(
        self, column: Column, places: Sequence[int], level: str, coefficient: str, constant: str
    ) -> list[ComparisonFigure]:
        estimates = column.estimates(level, coefficient, places, constant=constant)
        turned = [place for place in places if not column.evaluators[place].higher_is_better]
        negated = column.estimates(level, coefficient, turned, negated=True, constant=constant)
        merits = dict(zip(turned, negated, strict=True))
        return [
            ComparisonFigure(
                column.evaluators[place],
                column.labels,
                level,
                coefficient,
                replace(
                    estimate,
                    left_out=dict(column.why_seen[place]) | self._why_unscored(estimate, column, place),
                ),
                merits.get(place, estimate).value,
            )
            for place, estimate in zip(places, estimates, strict=True)
        ]

    def _why_unscored(self, estimate: Estimate, column: Column, place: int) -> dict[str, int]:
        """Return reason -> number left out, with the reasons for missing scores."""
        left_out = dict(estimate.left_out)
        total = left_out.pop(NO_SCORE, 0)
        if not total:
            return left_out
        labels, scores = column.labels, column.evaluators[place].scores_on(column.labels.dimension)
        unscored = self.counted & ~np.isnan(labels.values)
        unscored[self.counted] &= np.isnan(column.rows.scores[place]) & ~column.seen[place]
        if TIED_LABEL in left_out:
            unscored &= labels.values != 0.5  # counted as tied labels
        reasons = scores.reasons_among(unscored)
        reasons[NOT_SCORED_BY_ALL] = int((unscored & ~np.isnan(scores.values)).sum())
        reasons[NOT_SCORED_YET] = total - sum(reasons.values())
        return left_out | {f"{NO_SCORE}: {why}": count for why, count in reasons.items() if count}


@dataclass(frozen=True, eq=False)
class ComparisonTable:
    """A table of evaluators by dimensions, and the method of its figures."""

    comparison: Comparison
    columns: tuple[Column, ...]
    """One for each dimension."""
    method: Method

    @cached_property
    def _computed(self) -> tuple[tuple[list[ComparisonFigure], bool], ...]:
        return tuple(self.comparison.column_figures(column, self.method) for column in self.columns)

    @property
    def column_figures(self) -> tuple[list[ComparisonFigure], ...]:
        """The figures of each column, without intervals and letters."""
        return tuple(figures for figures, _ in self._computed)

    @property
    def columns_of_unequal_units(self) -> tuple[Column, ...]:
        """The columns whose values are not comparable as they stand."""
        return tuple(
            column
            for column, (_, are_equal) in zip(self.columns, self._computed, strict=True)
            if not are_equal
        )

    def uncertainties(self, after_each: Callable[[], None] = lambda: None) -> list[Uncertainty]:
        """Return the uncertainty of each column. With many summaries this takes seconds."""
        found = []
        for column, (figures, are_equal) in zip(self.columns, self._computed, strict=True):
            merits = [figure.merit for figure in figures]
            found.append(uncertainty(column, self.method, merits, are_units_equal=are_equal))
            after_each()
        return found

    def by_column(self, uncertain: Sequence[Uncertainty] | None = None) -> list[dict[str, ComparisonFigure]]:
        """Return the figures of each column by the evaluator's key, with its uncertainty if given."""
        return [
            {
                figure.evaluator.key: figure.with_uncertainty(uncertain[place]) if uncertain else figure
                for figure in each
            }
            for place, each in enumerate(self.column_figures)
        ]

    def figures(self, uncertain: Sequence[Uncertainty] | None = None) -> list[ComparisonFigure]:
        """Return all figures, by evaluator and dimension."""
        found = self.by_column(uncertain)
        return [
            by_key[evaluator.key]
            for evaluator in self.comparison.evaluators
            for by_key in found
            if evaluator.key in by_key
        ]

    def rows(self) -> list[dict[str, object]]:
        """Return all figures with intervals and letters, as JSON values."""
        return [figure.as_json() for figure in self.figures(self.uncertainties())]


def units_of(level: str, estimate: Estimate) -> int:
    """Return how many of the level's units an estimate is computed from."""
    of_units = {"summaries": estimate.n, "articles": estimate.articles, "systems": estimate.systems}
    return of_units[LEVELS[level].units] or 0


def _few_units(figure: ComparisonFigure, most: int) -> str:
    if math.isnan(figure.merit) or figure.units >= MUCH_FEWER * most:
        return ""
    unit, left_out = LEVELS[figure.level].units, figure.estimate.left_out
    reasons = "; ".join(f"{reason}: {count:,}" for reason, count in left_out.items())
    return f"{figure.units:,} of {most:,} {unit}" + (f" ({reasons})" if reasons else "")


def table_of(comparison: Comparison, labels: Sequence[Labels], method: Method) -> ComparisonTable:
    return ComparisonTable(
        comparison, tuple(comparison.column(each, method.items) for each in labels), method
    )


def compare(
    summaries: Summaries,
    evaluators: Sequence[SetupScores],
    *,
    language: str = ALL,
    dataset: str = ALL,
    systems: Collection[str] = (),
    only: Collection[str] = (),
    among: Bools | None = None,
    on: str | None = None,
) -> Comparison:
    """Return the comparison of `evaluators` (keys in `only`; none for all) under the contamination guard.

    Articles that one of them has seen are left out for it alone, by dimension. With `on`, which names a
    dimension, those that one of them has seen in this dimension are left out for all, whatever the labels.
    Summaries count if they are in `language`, of `dataset`, by `systems` (names; none for all) and `among`
    (summaries,) the ones given. Raises DomainError for an unknown name or key.
    """
    check_choice("language", language, (ALL, *summaries.language_names))
    check_choice("dataset", dataset, (ALL, *summaries.dataset_names))
    for name in systems:
        check_choice("system", name, summaries.system_names)
    keys = tuple(evaluator.key for evaluator in evaluators)
    for key in only:
        check_choice("evaluator", key, keys)
    compared = tuple(evaluator for evaluator in evaluators if not only or evaluator.key in only)
    chosen = summaries.in_language(language) & summaries.of_dataset(dataset) & summaries.by_systems(systems)
    if among is not None:
        chosen = chosen & among
    seen_by = {
        each.key: {
            dimension: np.isin(summaries.articles, list(each.seen_on(dimension))) & chosen
            for dimension in ((EVERY_DIMENSION, *each.seen) if on is None else (on,))
        }
        for each in compared
        if each.seen and each.has_scores
    }
    if on is None:
        return Comparison(
            summaries,
            tuple(
                each.without(seen_by[each.key], SEEN) if each.key in seen_by else each for each in compared
            ),
            chosen,
            {
                reason: n
                for each in compared
                if each.key in seen_by
                for reason, n in _why_seen(summaries.articles, [(each.label, seen_by[each.key])]).items()
            },
            seen_by,
        )
    of_each = [
        (each.label, {EVERY_DIMENSION: seen_by[each.key][on]}) for each in compared if each.key in seen_by
    ]
    contaminated = np.any([np.zeros_like(chosen), *(mask[EVERY_DIMENSION] for _, mask in of_each)], axis=0)
    return Comparison(summaries, compared, chosen & ~contaminated, _why_seen(summaries.articles, of_each), {})


def _on(dimension: str, by_dimension: Mapping[str, Bools]) -> Bools:
    return by_dimension.get(dimension, by_dimension[EVERY_DIMENSION])


def _why_seen(articles: Ints, seen: Sequence[tuple[str, Mapping[str, Bools]]]) -> dict[str, int]:
    """Return reason -> articles, from labels of evaluators and masks of the summaries they have seen."""
    labels: dict[int, list[str]] = {}
    for label, by_dimension in seen:
        found = {name: set(np.unique(articles[mask]).tolist()) for name, mask in by_dimension.items()}
        for article in sorted(set().union(*found.values())):
            within = [name for name, those in found.items() if article in those]
            is_partial = EVERY_DIMENSION not in within
            labels.setdefault(article, []).append(f"{label} ({', '.join(within)})" if is_partial else label)
    return dict(Counter(f"articles seen by {_named(each)}" for each in labels.values()))


def _named(labels: Sequence[str]) -> str:
    named = ", ".join(labels[:NAMED_IN_A_REASON])
    rest = len(labels) - NAMED_IN_A_REASON
    return f"{named} and {rest} more" if rest > 0 else named
