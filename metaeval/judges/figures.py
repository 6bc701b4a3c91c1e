"""Agreement of evaluators with people on one question, and the bias of choosing the best. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.comparison.comparison import Comparison
from metaeval.comparison.uncertainty import Column
from metaeval.snapshot.arrays import Labels, SetupScores
from metaeval.stats.arrays import Bools, Floats
from metaeval.stats.check_choice import check_choice
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.result import Estimate, Interval
from metaeval.stats.rows import THOUSAND_RESAMPLES
from metaeval.stats.scores import decisions
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES, interval_over_articles
from metaeval.stats.uncertainty.best_of_many_bias import best_of_many_bias
from metaeval.stats.uncertainty.bootstrap import Bootstrap

MEASURES = {name: each.label for name, each in COEFFICIENTS.items()} | decisions.STATISTICS
RESAMPLING = THOUSAND_RESAMPLES


@dataclass(frozen=True, eq=False)
class TrialFigures:
    """The agreement of all evaluators of a comparison on one question."""

    labels: Labels
    measure: str
    labelled: int
    """Labelled summaries that count."""
    articles: int
    """Articles of these summaries."""
    estimates: dict[str, Estimate]
    """Agreement by the evaluator's key, each with its interval."""
    unscored: dict[str, dict[str, int]]
    """The evaluator's key -> reason -> labelled summaries without a score."""
    replicates: dict[str, Floats]
    """The evaluator's key -> (resamples,) agreement. The resamples of articles are the same for all."""

    def best_of_many_bias(self, keys: Sequence[str]) -> float:
        """Return the expected excess of the best of these if all are equally good; nan if unknown."""
        known = [self.replicates[key] for key in keys if key in self.replicates]
        is_known = len(known) > 1 and self.articles >= FEWEST_ARTICLES
        return best_of_many_bias(np.array(known)) if is_known else float("nan")

    def best_of(self, keys: Sequence[str]) -> str | None:
        """Return the key with the highest value; None if none has a value."""
        known = [key for key in keys if key in self.estimates and not self.estimates[key].reason]
        return max(known, key=lambda key: self.estimates[key].value, default=None)


def figures(comparison: Comparison, labels: Labels, measure: str) -> TrialFigures:
    """Return the figures on the summaries of `comparison`. Raises DomainError for an unknown measure."""
    check_choice("measure", measure, tuple(MEASURES))
    column = comparison.column(labels)
    labelled = ~np.isnan(column.rows.labels)
    keys = [each.key for each in column.evaluators]
    replicates = _replicates(column, measure)
    with_interval = [
        estimate if estimate.reason else replace(estimate, interval=_interval(column, drawn))
        for estimate, drawn in zip(_estimates(column, measure), replicates, strict=True)
    ]
    counted = comparison.counted & ~np.isnan(labels.values)
    return TrialFigures(
        labels=labels,
        measure=measure,
        labelled=int(labelled.sum()),
        articles=len(np.unique(column.rows.articles[labelled])),
        estimates=dict(zip(keys, with_interval, strict=True)),
        unscored={each.key: _unscored(each, labels, counted) for each in column.evaluators},
        replicates={
            key: drawn
            for key, drawn, each in zip(keys, replicates, with_interval, strict=True)
            if not each.reason
        },
    )


def _estimates(column: Column, measure: str) -> list[Estimate]:
    if measure in COEFFICIENTS:
        return column.estimates("pooled", measure, range(len(column.evaluators)))
    return [decisions.decision_estimate(measure, own) for own in column.rows.each]


def _replicates(column: Column, measure: str) -> Floats:
    """Return (evaluators, resamples) the measure in each resample of articles."""
    if measure in COEFFICIENTS:
        return Bootstrap("articles", "pooled", measure, column.rows, RESAMPLING).replicates
    if not column.rows.yes_no or not len(column.evaluators):
        return np.full((len(column.evaluators), RESAMPLING.resamples), np.nan)
    return decisions.decision_replicates(measure, column.rows, RESAMPLING)


def _interval(column: Column, replicates: Floats) -> Interval:
    labelled = ~np.isnan(column.rows.labels)
    return interval_over_articles(replicates, column.rows.articles[labelled], RESAMPLING)


def _unscored(evaluator: SetupScores, labels: Labels, counted: Bools) -> dict[str, int]:
    return evaluator.scores_on(labels.dimension).reasons_among(counted)
