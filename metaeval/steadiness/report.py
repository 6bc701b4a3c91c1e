"""What came of asking a model again: figures by dimension, and the summaries on which replies differ most."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotation.models import Summary
from metaeval.stats.agreement.krippendorff import krippendorff_alpha
from metaeval.stats.result import Agreement
from scoring.models import ReaskedReply, Reasking
from scoring.steadiness.comparison import (
    Replies,
    Shift,
    Steadiness,
    p_unchanged,
    shift_of,
    steadiness_of,
)
from scoring.steadiness.reading import Found, model_names, replies_of

WORST = 5


@dataclass(frozen=True)
class Apart:
    """A summary whose replies on a dimension differ; all that was said, a run's own reply first."""

    summary: Summary
    dimension: str
    replies: tuple[ReaskedReply, ...]


@dataclass(frozen=True)
class Consistency:
    reasking: Reasking
    dimensions: tuple[tuple[str, Steadiness, Agreement], ...]


@dataclass(frozen=True)
class ConsistencyReport(Consistency):
    models: list[str]
    """Names that the endpoint told."""
    apart: tuple[Apart, ...]
    """Widest apart first; none whose replies are all equal."""


@dataclass(frozen=True)
class DriftReport:
    reasking: Reasking
    models_then: list[str]
    """Names that the endpoint told at first; empty where they were not kept."""
    models_now: list[str]
    p: float
    dimensions: tuple[tuple[str, Shift], ...]
    apart: tuple[Apart, ...]

    @property
    def has_another_name(self) -> bool:
        return bool(self.models_then) and self.models_then != self.models_now


def consistency_of(reasking: Reasking, found: Found) -> Consistency:
    """`found` are its replies."""
    figures = ((dimension, steadiness_of(each), alpha_of(each)) for dimension, each in found.items())
    return Consistency(reasking, tuple(figures))


def consistency_report(reasking: Reasking) -> ConsistencyReport:
    found = replies_of(reasking)
    _, models = model_names(reasking)
    figures = consistency_of(reasking, found).dimensions
    return ConsistencyReport(reasking, figures, models, _apart(reasking, found))


def drift_report(reasking: Reasking) -> DriftReport:
    found = replies_of(reasking)
    then, now = model_names(reasking)
    return DriftReport(
        reasking,
        then,
        now,
        p_unchanged(list(found.values()), seed=reasking.pk),
        tuple((dimension, shift_of(replies)) for dimension, replies in found.items()),
        _apart(reasking, found),
    )


def alpha_of(replies: Mapping[int, Replies]) -> Agreement:
    """Krippendorff's alpha (interval) of a model's replies to each other, as if each repeat were a rater."""
    answers = sorted({reply for each in replies.values() for reply in each if reply is not None})
    counts = [[list(each).count(answer) for answer in answers] for each in replies.values()]
    table = np.array(counts, dtype=np.int64).reshape(len(replies), len(answers))
    return krippendorff_alpha(table, "interval", answers)


def _apart(reasking: Reasking, found: Mapping[str, Mapping[int, Replies]]) -> tuple[Apart, ...]:
    widths = [
        (_width(replies), dimension, summary)
        for dimension, by_summary in found.items()
        for summary, replies in by_summary.items()
    ]
    widest = sorted((each for each in widths if each[0] > 0), key=lambda each: (-each[0], *each[1:]))[:WORST]
    rows: dict[tuple[str, int], list[ReaskedReply]] = {}
    chosen = {(dimension, summary) for _, dimension, summary in widest}
    kept = reasking.replies.filter(summary__in={summary for _, summary in chosen}).order_by("repeat")
    for row in kept.select_related("summary__article", "summary__system"):
        rows.setdefault((row.dimension, row.summary_id), []).append(row)
    return tuple(
        Apart(rows[dimension, summary][0].summary, dimension, tuple(rows[dimension, summary]))
        for _, dimension, summary in widest
    )


def _width(replies: Replies) -> float:
    """How far replies are apart; a reply without a score beside one that has one is the farthest."""
    numbers = [reply for reply in replies if reply is not None]
    if numbers and len(numbers) < len(replies):
        return float("inf")
    return max(numbers) - min(numbers) if numbers else 0.0
