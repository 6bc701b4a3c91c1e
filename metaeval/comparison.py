"""Evaluators compared with each other by how well they agree with people, under the contamination guard."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from metaeval.judgements import ALL, Evaluator, Labels, Scores, Summaries, read_only
from metaeval.method import Method
from metaeval.refuse_unknown import refuse_unknown
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation.paired import NO_SCORE, TIED_LABEL
from metaeval.stats.result import Estimate, or_none
from metaeval.uncertainty import Column, Uncertainty, uncertainty

NOT_SCORED_YET = "not scored yet"
NOT_SCORED_BY_ALL = "not scored by every compared evaluator"
GUARD = (
    "Articles that any of the compared evaluators has seen (as examples, in training, or to choose a prompt"
    " or a threshold) are left out for all of them."
)
NAMED_IN_A_REASON = 3  # evaluators; of more than these the rest is only counted


@dataclass(frozen=True)
class MetaevalFigure:
    """One coefficient between one evaluator's scores and the human labels on one dimension."""

    evaluator: Evaluator
    labels: Labels
    level: str
    coefficient: str
    estimate: Estimate
    merit: float
    """The coefficient's value; where lower scores are better that of the negated scores. nan if undefined."""
    is_best: bool = False
    """Whether it has the most merit of two or more evaluators on the dimension."""
    cluster: str = ""
    """Letters; evaluators of the dimension that share one are not told apart. Empty without a test."""
    told_apart_by: str = ""
    """How the letters came about: full sentences."""

    @property
    def definitions(self) -> tuple[str, ...]:
        """Of the number, its interval, its letters, the label, and what is left out for every evaluator: full
        sentences."""
        interval = self.estimate.interval
        of_interval = (interval.definition,) if interval else ()
        of_letters = (self.told_apart_by,) if self.cluster else ()
        return self.estimate.definition, *of_interval, *of_letters, self.labels.definition, GUARD

    def beside(self, uncertain: Uncertainty) -> "MetaevalFigure":
        """The figure with its interval and its letters, as far as there are any."""
        return replace(
            self,
            estimate=replace(self.estimate, interval=uncertain.intervals.get(self.evaluator.key)),
            cluster=uncertain.clusters.get(self.evaluator.key, ""),
            told_apart_by=uncertain.definition,
        )

    def as_json(self) -> dict[str, object]:
        """The row that page, API, command and export show; `reason` says why there is no value."""
        interval = self.estimate.interval
        row: dict[str, object] = {
            "evaluator": self.evaluator.label,
            "fingerprint": self.evaluator.fingerprint,
            "dimension": self.labels.dimension,
            "level": self.level,
            "coefficient": self.coefficient,
            "value": or_none(self.estimate.value),
            "low": or_none(interval.low) if interval else None,
            "high": or_none(interval.high) if interval else None,
            "n": self.estimate.n,
            "articles": self.estimate.articles,
            "systems": self.estimate.systems,
            "left_out": dict(self.estimate.left_out),
            "definition": " ".join(self.definitions),
        }
        if self.is_best:
            row["is_best"] = True
        if self.cluster:
            row["cluster"] = self.cluster
        if interval and interval.reason:
            row["interval_reason"] = interval.reason
        if self.estimate.reason:
            row["reason"] = self.estimate.reason
        return row


@dataclass(frozen=True, eq=False)
class Pairs:
    """The summaries that have both numbers; all arrays are (n,)."""

    places: Ints
    """Places among all summaries."""
    labels: Floats
    label_order: Floats
    """Whole numbers in the same order."""
    scores: Floats
    score_order: Floats
    systems: Ints
    """Places among the names of systems."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Evaluators that are compared with each other, and the summaries on which they are."""

    summaries: Summaries
    evaluators: tuple[Evaluator, ...]
    counted: Bools
    """(summaries,) those chosen, without those of articles that an evaluator has seen."""
    seen: dict[str, int]
    """Reason -> articles left out because they were seen."""
    _columns: dict[tuple[Labels, str], Column] = field(default_factory=dict, init=False, repr=False)
    _scores: dict[tuple[tuple[Scores, ...], str], tuple[Floats, Floats]] = field(
        default_factory=dict, init=False, repr=False
    )

    def column(self, labels: Labels, items: str = "own") -> Column:
        """What the evaluators that score the labels' dimension say, on the summaries counted.

        `items` is one of `ITEMS`: with "common", a score counts only where every evaluator has one. A
        column is made once for all figures of its dimension.
        """
        if (labels, items) not in self._columns:
            self._columns[labels, items] = self._column(labels, items)
        return self._columns[labels, items]

    def _column(self, labels: Labels, items: str) -> Column:
        scorers = tuple(each for each in self.evaluators if each.on(labels.dimension) is not None)
        scores, order = self._matrices(tuple(_scores(evaluator, labels) for evaluator in scorers), items)
        return Column(
            labels=labels,
            evaluators=scorers,
            human=labels.values[self.counted],
            human_order=labels.order[self.counted],
            scores=scores,
            scores_order=order,
            articles=self.summaries.articles[self.counted],
            systems=self.summaries.systems[self.counted],
        )

    def _matrices(self, given: tuple[Scores, ...], items: str) -> tuple[Floats, Floats]:
        """(scorers, counted) the scores, and their order; once for all dimensions with the same scores."""
        if (given, items) not in self._scores:
            places = np.flatnonzero(self.counted)
            scores = np.array([each.values.take(places) for each in given]).reshape(len(given), len(places))
            order = np.array([each.order.take(places) for each in given]).reshape(len(given), len(places))
            if items == "common":
                missing = np.isnan(scores).any(axis=0)
                scores[:, missing] = order[:, missing] = np.nan
            self._scores[given, items] = read_only(scores), read_only(order)
        return self._scores[given, items]

    def figure(
        self, evaluator: Evaluator, labels: Labels, level: str, coefficient: str, items: str = "own"
    ) -> MetaevalFigure:
        """One figure. Raises KeyError if the evaluator says nothing on the labels' dimension."""
        column = self.column(labels, items)
        _scores(evaluator, labels)
        place = [each.key for each in column.evaluators].index(evaluator.key)
        return self._figures(column, [place], level, coefficient)[0]

    def column_figures(self, column: Column, method: Method) -> list[MetaevalFigure]:
        """The figures of one dimension, one for each of its evaluators."""
        everyone = range(len(column.evaluators))
        figures = self._figures(column, everyone, method.level, method.coefficient)
        merits = [figure.merit for figure in figures if not math.isnan(figure.merit)]
        return [
            replace(figure, is_best=len(merits) > 1 and figure.merit == max(merits)) for figure in figures
        ]

    def pairs(self, evaluator: Evaluator, labels: Labels) -> Pairs:
        """The summaries behind a figure. Raises KeyError if the evaluator says nothing on the dimension."""
        scores = _scores(evaluator, labels)
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
        self, column: Column, places: Sequence[int], level: str, coefficient: str
    ) -> list[MetaevalFigure]:
        estimates = column.estimates(level, coefficient, places)
        turned = [place for place in places if not column.evaluators[place].higher_is_better]
        merits = dict(zip(turned, column.estimates(level, coefficient, turned, negated=True), strict=True))
        return [
            MetaevalFigure(
                column.evaluators[place],
                column.labels,
                level,
                coefficient,
                replace(estimate, left_out=self.seen | self._why_unscored(estimate, column, place)),
                merits.get(place, estimate).value,
            )
            for place, estimate in zip(places, estimates, strict=True)
        ]

    def _why_unscored(self, estimate: Estimate, column: Column, place: int) -> dict[str, int]:
        """What was left out, the summaries without a score by the reason for it."""
        left_out = dict(estimate.left_out)
        total = left_out.pop(NO_SCORE, 0)
        if not total:
            return left_out
        labels, scores = column.labels, _scores(column.evaluators[place], column.labels)
        unscored = self.counted & ~np.isnan(labels.values)
        unscored[self.counted] &= np.isnan(column.scores[place])
        if TIED_LABEL in left_out:
            unscored &= labels.values != 0.5  # these are among the tied
        reasons = scores.reasons_among(unscored)
        reasons[NOT_SCORED_BY_ALL] = int((unscored & ~np.isnan(scores.values)).sum())
        reasons[NOT_SCORED_YET] = total - sum(reasons.values())
        return left_out | {f"{NO_SCORE}: {why}": count for why, count in reasons.items() if count}


@dataclass(frozen=True, eq=False)
class MetaevalTable:
    """What was asked for: evaluators by dimensions, and how their figures are computed."""

    comparison: Comparison
    columns: tuple[Column, ...]
    """One for each dimension."""
    method: Method

    @cached_property
    def column_figures(self) -> tuple[list[MetaevalFigure], ...]:
        """Of each column one for each of its evaluators, without intervals and letters."""
        return tuple(self.comparison.column_figures(column, self.method) for column in self.columns)

    def uncertainties(self) -> list[Uncertainty]:
        """Of each column. With many summaries this takes seconds."""
        return [
            uncertainty(column, self.method, [figure.merit for figure in figures])
            for column, figures in zip(self.columns, self.column_figures, strict=True)
        ]

    def figures(self, uncertain: Sequence[Uncertainty] | None = None) -> list[MetaevalFigure]:
        """All there are: evaluator by evaluator, within it dimension by dimension; with intervals and letters
        if these are given, of each column."""
        found = [
            {
                figure.evaluator.key: figure.beside(uncertain[place]) if uncertain else figure
                for figure in each
            }
            for place, each in enumerate(self.column_figures)
        ]
        return [
            by_key[evaluator.key]
            for evaluator in self.comparison.evaluators
            for by_key in found
            if evaluator.key in by_key
        ]

    def rows(self) -> list[dict[str, object]]:
        """All figures with all that was asked for, as JSON values."""
        return [figure.as_json() for figure in self.figures(self.uncertainties())]


def table_of(comparison: Comparison, labels: Sequence[Labels], method: Method) -> MetaevalTable:
    return MetaevalTable(comparison, tuple(comparison.column(each, method.items) for each in labels), method)


def compare(
    summaries: Summaries,
    evaluators: Sequence[Evaluator],
    *,
    language: str = ALL,
    dataset: str = ALL,
    systems: Collection[str] = (),
    only: Collection[str] = (),
) -> Comparison:
    """The comparison of `evaluators`, or of those whose keys are in `only`, under the contamination guard.

    It stands on the summaries in `language`, of `dataset` and by `systems` (names; none for all). Raises
    DomainError for anything that does not exist.
    """
    refuse_unknown("language", language, (ALL, *summaries.language_names))
    refuse_unknown("dataset", dataset, (ALL, *summaries.dataset_names))
    for name in systems:
        refuse_unknown("system", name, summaries.system_names)
    keys = tuple(evaluator.key for evaluator in evaluators)
    for key in only:
        refuse_unknown("evaluator", key, keys)
    compared = tuple(evaluator for evaluator in evaluators if not only or evaluator.key in only)
    chosen = summaries.in_language(language) & summaries.of_dataset(dataset) & summaries.by_systems(systems)
    seen_by: dict[int, list[str]] = {}
    for evaluator in compared:
        for article in evaluator.seen:
            seen_by.setdefault(article, []).append(evaluator.label)
    contaminated = np.isin(summaries.articles, list(seen_by))
    seen: dict[str, int] = {}
    for article in np.unique(summaries.articles[chosen & contaminated]).tolist():
        reason = f"articles seen by {_named(seen_by[article])}"
        seen[reason] = seen.get(reason, 0) + 1
    return Comparison(summaries, compared, chosen & ~contaminated, seen)


def _scores(evaluator: Evaluator, labels: Labels) -> Scores:
    scores = evaluator.on(labels.dimension)
    if scores is None:
        raise KeyError(f"{evaluator.label} does not score {labels.dimension}")
    return scores


def _named(labels: Sequence[str]) -> str:
    named = ", ".join(labels[:NAMED_IN_A_REASON])
    rest = len(labels) - NAMED_IN_A_REASON
    return f"{named} and {rest} more" if rest > 0 else named
