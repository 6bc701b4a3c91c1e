"""Which system writes the best summaries, by people and by evaluators: the figures of the systems page."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from metaeval.comparison import GUARD, Comparison
from metaeval.judgements import Evaluator, Labels
from metaeval.pair_charts import label_span
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation.levels import SYSTEM_MEAN_DECIMALS
from metaeval.stats.labels.label_mean import MeanEstimate, label_mean
from metaeval.stats.labels.prediction_powered import prediction_powered

SCORE_MEAN = (
    "Mean of the scores there are, of labelled and of unlabelled summaries. Interval: 95% t-interval, with"
    " the article as the unit that is drawn."
)
CUT = "Intervals are cut at the ends of the scale, beyond which no mean label can lie."
NO_SCORES = "no summary has a score"


@dataclass(frozen=True)
class SystemFigure:
    """One mean of one system's summaries."""

    system: str
    dimension: str
    source: str
    """What it is the mean of: 'labels', 'labels and scores', or 'scores'."""
    evaluator: Evaluator | None
    """Whose scores; None for labels alone."""
    estimate: MeanEstimate
    definitions: tuple[str, ...]
    """Of the estimate, of the label, and of what is left out: full sentences."""
    left_out: dict[str, int]
    """Reason -> articles left out because they were seen."""
    is_best: bool = False
    """Whether no system of the column is better; of several with the same mean, each."""
    is_worst: bool = False

    def as_json(self) -> dict[str, object]:
        """The row that page and export show; `reason` says why there is no value."""
        estimate, interval = self.estimate, self.estimate.interval
        row: dict[str, object] = {
            "system": self.system,
            "dimension": self.dimension,
            "source": self.source,
            "evaluator": self.evaluator.label if self.evaluator else "",
            "fingerprint": self.evaluator.fingerprint if self.evaluator else None,
            "value": None if estimate.reason else estimate.value,
            "low": None if interval.reason else interval.low,
            "high": None if interval.reason else interval.high,
            "labelled": estimate.labelled,
            "scored_only": estimate.scored_only,
            "best": self.is_best,
            "worst": self.is_worst,
            "left_out": dict(self.left_out),
            "definition": " ".join(self.definitions),
        }
        if interval.reason:
            row["interval_reason"] = interval.reason
        if estimate.reason:
            row["reason"] = estimate.reason
        return row


def label_figures(comparison: Comparison, labels: Labels) -> list[SystemFigure]:
    """The mean label of each system, by name, from the labels alone."""
    articles = comparison.summaries.articles
    return _figures(
        comparison,
        labels.dimension,
        "labels",
        None,
        lambda own: _within_scale(label_mean(labels.values[own], articles[own]), labels),
        CUT,
        labels.definition,
    )


def powered_figures(comparison: Comparison, labels: Labels, evaluator: Evaluator) -> list[SystemFigure]:
    """The prediction-powered mean label of each system, with the evaluator's scores on all its summaries.

    Empty if the evaluator says nothing on the labels' dimension.
    """
    scores, articles = evaluator.on(labels.dimension), comparison.summaries.articles
    if scores is None:
        return []
    values = scores.values
    return _figures(
        comparison,
        labels.dimension,
        "labels and scores",
        evaluator,
        lambda own: _within_scale(prediction_powered(labels.values[own], values[own], articles[own]), labels),
        CUT,
        labels.definition,
    )


def score_figures(comparison: Comparison, dimension: str, evaluator: Evaluator) -> list[SystemFigure]:
    """The mean score of each system; empty if the evaluator says nothing on the dimension."""
    scores, articles = evaluator.on(dimension), comparison.summaries.articles
    if scores is None:
        return []
    values = scores.values
    return _figures(
        comparison, dimension, "scores", evaluator, lambda own: _score_mean(values[own], articles[own])
    )


def _figures(
    comparison: Comparison,
    dimension: str,
    source: str,
    evaluator: Evaluator | None,
    estimate_of: Callable[[Bools], MeanEstimate],
    *further_definitions: str,
) -> list[SystemFigure]:
    """One for each system with a summary that counts; `estimate_of` gets which (summaries,) are its own."""
    figures = []
    for code, name in enumerate(comparison.summaries.system_names):
        own = comparison.counted & (comparison.summaries.systems == code)
        if own.any():
            estimate = estimate_of(own)
            definitions = estimate.definition, *further_definitions, GUARD
            figures.append(
                SystemFigure(name, dimension, source, evaluator, estimate, definitions, comparison.seen)
            )
    return _marked(
        figures, higher_is_better=evaluator is None or source != "scores" or evaluator.higher_is_better
    )


def _within_scale(estimate: MeanEstimate, labels: Labels) -> MeanEstimate:
    span, interval = label_span(labels.scale), estimate.interval
    if span is None or interval.reason:
        return estimate
    # An estimate that lies beyond the scale itself is shown as it is, in its interval.
    low = max(interval.low, min(span.low, estimate.value))
    high = min(interval.high, max(span.high, estimate.value))
    return replace(estimate, interval=replace(interval, low=low, high=high))


def _score_mean(scores: Floats, articles: Ints) -> MeanEstimate:
    mean = label_mean(scores, articles)
    reason = NO_SCORES if mean.reason else ""
    return replace(
        mean,
        labelled=0,
        scored_only=mean.labelled,
        interval=replace(mean.interval, definition=SCORE_MEAN, reason=reason or mean.interval.reason),
        definition=SCORE_MEAN,
        reason=reason,
    )


def _marked(figures: Sequence[SystemFigure], *, higher_is_better: bool) -> list[SystemFigure]:
    """The same figures, the best and the worst of them marked unless all are equal."""
    sign = 1 if higher_is_better else -1
    means = [sign * round(figure.estimate.value, SYSTEM_MEAN_DECIMALS) for figure in figures]
    defined = [mean for mean in means if not math.isnan(mean)]
    if not defined or min(defined) == max(defined):
        return list(figures)
    return [
        replace(figure, is_best=mean == max(defined), is_worst=mean == min(defined))
        for figure, mean in zip(figures, means, strict=True)
    ]
