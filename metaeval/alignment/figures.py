"""How well evaluators agree with people on one question, and how much of it may be luck. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.comparison import Comparison
from metaeval.judgements import Evaluator, Labels
from metaeval.refuse_unknown import refuse_unknown
from metaeval.stats.arrays import Bools, Floats
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.result import Estimate, Interval
from metaeval.stats.scores import decisions
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES, interval_over_articles
from metaeval.stats.uncertainty.bootstrap import bootstrap_replicates
from metaeval.stats.uncertainty.luck_of_the_best import luck_of_the_best
from metaeval.uncertainty import Column

MEASURES = {name: each.label for name, each in COEFFICIENTS.items()} | decisions.STATISTICS
RESAMPLES, SEED = 1000, 0


@dataclass(frozen=True, eq=False)
class Figures:
    """Of the evaluators of a comparison that score the question."""

    labels: Labels
    measure: str
    labelled: int
    """Summaries counted that have a label."""
    articles: int
    """Theirs."""
    estimates: dict[str, Estimate]
    """By the evaluator's key, each with its interval."""
    unscored: dict[str, dict[str, int]]
    """By the evaluator's key: reason -> labelled summaries without a score."""
    replicates: dict[str, Floats]
    """By the evaluator's key: (RESAMPLES,) in the same resamples of articles for all."""

    def luck_of(self, keys: Sequence[str]) -> float:
        """What the best of these is expected to show by luck if all are equally good; nan if unknown, as with
        too few articles to draw from."""
        known = [self.replicates[key] for key in keys if key in self.replicates]
        is_known = len(known) > 1 and self.articles >= FEWEST_ARTICLES
        return luck_of_the_best(np.array(known)) if is_known else float("nan")

    def best_of(self, keys: Sequence[str]) -> str | None:
        """The one with the highest value; None where none has one."""
        known = [key for key in keys if key in self.estimates and not self.estimates[key].reason]
        return max(known, key=lambda key: self.estimates[key].value, default=None)


def figures(comparison: Comparison, labels: Labels, measure: str) -> Figures:
    """All on the summaries that `comparison` counts. Raises DomainError for a measure that there is not."""
    refuse_unknown("measure", measure, tuple(MEASURES))
    column = comparison.column(labels)
    labelled = ~np.isnan(column.human)
    keys = [each.key for each in column.evaluators]
    replicates = _replicates(column, measure)
    with_interval = [
        estimate if estimate.reason else replace(estimate, interval=_interval(column, drawn))
        for estimate, drawn in zip(_estimates(column, measure), replicates, strict=True)
    ]
    counted = comparison.counted & ~np.isnan(labels.values)
    return Figures(
        labels=labels,
        measure=measure,
        labelled=int(labelled.sum()),
        articles=len(np.unique(column.articles[labelled])),
        estimates=dict(zip(keys, with_interval, strict=True)),
        unscored={each.key: _unscored(each, labels, counted) for each in column.evaluators},
        replicates={
            key: drawn
            for key, drawn, each in zip(keys, replicates, with_interval, strict=True)
            if not each.reason
        },
    )


def _estimates(column: Column, measure: str) -> list[Estimate]:
    places = range(len(column.evaluators))
    if measure in COEFFICIENTS:
        return column.estimates("pooled", measure, places)
    return [
        decisions.decision_estimate(
            measure,
            column.human,
            column.scores[place],
            column.articles,
            column.systems,
            yes_no=column.labels.is_yes_no,
        )
        for place in places
    ]


def _replicates(column: Column, measure: str) -> Floats:
    """(evaluators, RESAMPLES)"""
    if measure in COEFFICIENTS:
        return bootstrap_replicates(
            "articles",
            "pooled",
            measure,
            column.human,
            column.scores,
            column.articles,
            column.systems,
            yes_no=column.labels.is_yes_no,
            resamples=RESAMPLES,
            seed=SEED,
        )
    if not column.labels.is_yes_no or not len(column.scores):
        return np.full((len(column.evaluators), RESAMPLES), np.nan)
    return decisions.decision_replicates(
        measure, column.human, column.scores, column.articles, resamples=RESAMPLES, seed=SEED
    )


def _interval(column: Column, replicates: Floats) -> Interval:
    labelled = ~np.isnan(column.human)
    return interval_over_articles(replicates, column.articles[labelled], what="", seed=SEED)


def _unscored(evaluator: Evaluator, labels: Labels, counted: Bools) -> dict[str, int]:
    scores = evaluator.on(labels.dimension)
    return {} if scores is None else scores.reasons_among(counted)
