"""Results of rechecks: figures by dimension, and the summaries whose replies differ most."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotation.models import Summary
from metaeval.rechecks.comparison import (
    Replies,
    ReplyConsistency,
    Shift,
    measure_consistency,
    p_unchanged,
    shift_of,
)
from metaeval.rechecks.results import RecheckReplies, model_names, replies_of
from metaeval.stats.agreement.krippendorff import krippendorff_alpha
from metaeval.stats.result import Agreement
from scoring.models import RecheckScore, Run

WORST = 5


@dataclass(frozen=True)
class DifferingReplies:
    """A summary whose replies on a dimension differ, the original reply first."""

    summary: Summary
    dimension: str
    replies: tuple[RecheckScore, ...]


@dataclass(frozen=True)
class Consistency:
    run: Run
    dimensions: tuple[tuple[str, ReplyConsistency, Agreement], ...]


@dataclass(frozen=True)
class ConsistencyReport(Consistency):
    models: list[str]
    """Model names reported by the endpoint."""
    differing: tuple[DifferingReplies, ...]
    """The largest differences first."""


@dataclass(frozen=True)
class DriftReport:
    run: Run
    models_then: list[str]
    """Model names reported originally; empty if unknown."""
    models_now: list[str]
    p: float
    dimensions: tuple[tuple[str, Shift], ...]
    differing: tuple[DifferingReplies, ...]

    @property
    def has_new_model_name(self) -> bool:
        return bool(self.models_then) and self.models_then != self.models_now


def consistency_of(run: Run, found: RecheckReplies) -> Consistency:
    """Return the figures of a consistency recheck with these replies."""
    figures = ((dimension, measure_consistency(each), alpha_of(each)) for dimension, each in found.items())
    return Consistency(run, tuple(figures))


def consistency_report(run: Run) -> ConsistencyReport:
    found = replies_of(run)
    figures = consistency_of(run, found).dimensions
    return ConsistencyReport(run, figures, model_names(run), _differing(run, found))


def drift_report(run: Run) -> DriftReport:
    found = replies_of(run)
    return DriftReport(
        run,
        run.models_before,
        model_names(run),
        p_unchanged(list(found.values()), seed=run.pk),
        tuple((dimension, shift_of(replies)) for dimension, replies in found.items()),
        _differing(run, found),
    )


def alpha_of(replies: Mapping[int, Replies]) -> Agreement:
    """Return Krippendorff's alpha (interval) of a model's replies, with repeats as raters."""
    answers = sorted({reply for each in replies.values() for reply in each if reply is not None})
    counts = [[list(each).count(answer) for answer in answers] for each in replies.values()]
    table = np.array(counts, dtype=np.int64).reshape(len(replies), len(answers))
    return krippendorff_alpha(table, "interval", answers)


def _differing(run: Run, found: Mapping[str, Mapping[int, Replies]]) -> tuple[DifferingReplies, ...]:
    widths = [
        (_width(replies), dimension, summary)
        for dimension, by_summary in found.items()
        for summary, replies in by_summary.items()
    ]
    widest = sorted((each for each in widths if each[0] > 0), key=lambda each: (-each[0], *each[1:]))[:WORST]
    rows: dict[tuple[str, int], list[RecheckScore]] = {}
    chosen = {(dimension, summary) for _, dimension, summary in widest}
    kept = run.recheck_scores.filter(summary__in={summary for _, summary in chosen}).order_by("repetition")
    for row in kept.select_related("summary__article", "summary__system"):
        rows.setdefault((row.dimension, row.summary_id), []).append(row)
    return tuple(
        DifferingReplies(rows[dimension, summary][0].summary, dimension, tuple(rows[dimension, summary]))
        for _, dimension, summary in widest
    )


def _width(replies: Replies) -> float:
    """Return the range of replies; infinite if only some of them have a score."""
    numbers = [reply for reply in replies if reply is not None]
    if numbers and len(numbers) < len(replies):
        return float("inf")
    return max(numbers) - min(numbers) if numbers else 0.0
