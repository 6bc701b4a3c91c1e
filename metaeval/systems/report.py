"""The mean labels and scores of systems: the figures of the systems page."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from metaeval.comparison.comparison import GUARD, Comparison
from metaeval.snapshot.arrays import Labels, SetupScores
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation.levels import SYSTEM_MEAN_DECIMALS
from metaeval.stats.labels.label_mean import CUT, MeanEstimate, label_mean, within_ends
from metaeval.stats.labels.prediction_powered import drawn_prediction_powered, prediction_powered
from metaeval.stats.result import reasons, value_and_ends

SCORE_MEAN = (
    "Mean of all scores, of labelled and unlabelled summaries. Interval: 95% t-interval with articles as"
    " units, for a single look."
)
NO_SCORES = "no summary has a score"


@dataclass(frozen=True)
class SystemFigure:
    """The mean label or score of one system."""

    system: str
    dimension: str
    source: str
    """'labels', 'labels and scores', or 'scores'."""
    evaluator: SetupScores | None
    """The evaluator of the scores; None for labels alone."""
    estimate: MeanEstimate
    definitions: tuple[str, ...]
    """Definitions of estimate, label and exclusions, in full sentences."""
    left_out: dict[str, int]
    """Reason -> articles left out because they were seen."""
    warning: str = ""
    """Full sentence on groups of raters that are mixed although they differ, also in the definitions."""
    is_best: bool = False
    """True if no system of the column is better."""
    is_worst: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the row of a file, with `reason` if there is no value."""
        estimate = self.estimate
        return {
            "system": self.system,
            "dimension": self.dimension,
            "source": self.source,
            "evaluator": self.evaluator.label if self.evaluator else "",
            "fingerprint": self.evaluator.fingerprint if self.evaluator else None,
            **value_and_ends(estimate.value, estimate.interval),
            "labelled": estimate.labelled,
            "scored_only": estimate.scored_only,
            "is_best": self.is_best,
            "is_worst": self.is_worst,
            "left_out": dict(self.left_out),
            "definition": " ".join(self.definitions),
            **({"warning": self.warning} if self.warning else {}),
            **reasons(estimate.reason, estimate.interval),
        }


def label_figures(
    comparison: Comparison, labels: Labels, chances: Floats | None = None, *, at_every_look: bool = False
) -> list[SystemFigure]:
    """Return the mean label of each system, from labels alone, weighted if there are `draw_chances`."""
    articles = comparison.summaries.articles
    return _figures(
        comparison,
        labels.dimension,
        "labels",
        None,
        lambda own: within_ends(
            label_mean(
                labels.values[own],
                articles[own],
                chances=None if chances is None else chances[own],
                at_every_look=at_every_look,
            ),
            labels.scale.ends,
        ),
        labels,
    )


def powered_figures(
    comparison: Comparison,
    labels: Labels,
    evaluator: SetupScores,
    chances: Floats | None = None,
    *,
    at_every_look: bool = False,
) -> list[SystemFigure]:
    """Return the prediction-powered mean label of each system; empty if the evaluator has no scores.

    Labels are weighted if there are `draw_chances`.
    """
    scores = evaluator.on(labels.dimension)
    if scores is None:
        return []
    values = scores.values

    def powered(own: Bools) -> MeanEstimate:
        rows = comparison.summaries.rows(own, labels, values[own])
        if chances is None:
            return prediction_powered(rows, at_every_look=at_every_look)
        return drawn_prediction_powered(rows, chances[own], at_every_look=at_every_look)

    return _figures(
        comparison,
        labels.dimension,
        "labels and scores",
        evaluator,
        lambda own: within_ends(powered(own), labels.scale.ends),
        labels,
    )


def score_figures(comparison: Comparison, dimension: str, evaluator: SetupScores) -> list[SystemFigure]:
    """Return the mean score of each system; empty if the evaluator does not score the dimension."""
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
    evaluator: SetupScores | None,
    estimate_of: Callable[[Bools], MeanEstimate],
    labels: Labels | None = None,
) -> list[SystemFigure]:
    """Return the figure of each system with a summary that counts.

    `estimate_of` gets a mask (summaries,) of the system's own; `labels` are those it uses, if any. Labels
    alone keep the articles that evaluators have seen, unless the comparison leaves them out for all.
    """
    seen = comparison.why_seen([evaluator] if evaluator else [], dimension)
    further = [CUT, labels.definition] if labels else []
    further += [GUARD] if evaluator or seen else []
    warning = labels.warning if labels else ""
    figures = []
    for code, name in enumerate(comparison.summaries.system_names):
        own = comparison.counted & (comparison.summaries.systems == code)
        if own.any():
            estimate = estimate_of(own)
            definitions = estimate.definition, *further
            figures.append(
                SystemFigure(name, dimension, source, evaluator, estimate, definitions, seen, warning)
            )
    return _marked(
        figures, higher_is_better=evaluator is None or source != "scores" or evaluator.higher_is_better
    )


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
    """Return the figures with the best and the worst marked, unless all are equal."""
    sign = 1 if higher_is_better else -1
    means = [sign * round(figure.estimate.value, SYSTEM_MEAN_DECIMALS) for figure in figures]
    defined = [mean for mean in means if not math.isnan(mean)]
    if not defined or min(defined) == max(defined):
        return list(figures)
    return [
        replace(figure, is_best=mean == max(defined), is_worst=mean == min(defined))
        for figure, mean in zip(figures, means, strict=True)
    ]
