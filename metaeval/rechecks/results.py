"""Results of rechecks: replies, verdicts on drift, and notices of drift."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from metaeval.rechecks.comparison import LEVEL, p_unchanged
from scoring.models import RecheckScore, Run, Setup

NOTHING_TO_COMPARE = "No summary can be compared: their texts have changed or the summaries were deleted."


@dataclass(frozen=True)
class DriftNotice:
    """A setup's model answers differently than when its scores were made."""

    setup: Setup
    noticed_at: datetime
    """The first of the latest rechecks in a row that found a change."""
    last_same_at: datetime | None
    """The latest recheck that found no change; None if there was none."""


RecheckReplies = dict[str, dict[int, list[float | None]]]
"""Dimension -> summary -> scores by repetition; a drift recheck starts with the setup's own."""


def replies_of(run: Run) -> RecheckReplies:
    """Return a recheck's replies on summaries scored in every repetition with the same texts."""
    return replies_of_each([run])[run.pk]


def replies_of_each(runs: Collection[Run]) -> dict[int, RecheckReplies]:
    """Return the replies of each run by primary key, as `replies_of`."""
    found: dict[int, RecheckReplies] = {run.pk: {} for run in runs}
    repetitions: dict[int, set[int]] = defaultdict(set)
    inputs: dict[tuple[int, int], set[str]] = defaultdict(set)
    rows = RecheckScore.objects.filter(run__in=found).order_by("dimension", "summary", "repetition")
    columns = ("run", "dimension", "summary", "repetition", "value", "inputs")
    for pk, dimension, summary, repetition, value, digest in rows.values_list(*columns):
        found[pk].setdefault(dimension, {}).setdefault(summary, []).append(value)
        repetitions[pk].add(repetition)
        inputs[pk, summary].add(digest)
    return {
        pk: {
            dimension: {
                summary: each
                for summary, each in replies.items()
                if len(each) == len(repetitions[pk]) and len(inputs[pk, summary]) == 1
            }
            for dimension, replies in by_dimension.items()
        }
        for pk, by_dimension in found.items()
    }


def conclude_drift_checks() -> None:
    """Record whether the model has changed, for every finished drift recheck.

    Several workers may do so at once, since the same replies give the same verdict.
    """
    for run in Run.objects.filter(kind=Run.Kind.DRIFT, status=Run.Status.DONE, has_changed=None):
        found, row = list(replies_of(run).values()), Run.objects.filter(pk=run.pk)
        if any(found):
            row.update(has_changed=p_unchanged(found, seed=run.pk) < LEVEL)
        else:
            row.update(status=Run.Status.FAILED, failure=NOTHING_TO_COMPARE)


def notice_of(setup: Setup) -> DriftNotice | None:
    """Return the setup's drift notice; None if its latest drift recheck found no change or there is none."""
    return notices_of([setup]).get(setup.pk)


def notices_of(setups: Collection[Setup]) -> dict[int, DriftNotice]:
    """Return the drift notices of these setups by primary key."""
    rechecks: dict[int, list[tuple[datetime, bool]]] = {}
    drifts = Run.objects.filter(setup__in=setups, has_changed__isnull=False).order_by("-pk")
    for setup_id, created_at, has_changed in drifts.values_list("setup", "created_at", "has_changed"):
        rechecks.setdefault(setup_id, []).append((created_at, bool(has_changed)))
    found = ((setup, _notice(setup, rechecks.get(setup.pk, ()))) for setup in setups)
    return {setup.pk: notice for setup, notice in found if notice}


def _notice(setup: Setup, rechecks: Iterable[tuple[datetime, bool]]) -> DriftNotice | None:
    """Return the notice that follows from all drift rechecks, latest first."""
    noticed_at = None
    for created_at, has_changed in rechecks:
        if not has_changed:
            return DriftNotice(setup, noticed_at, created_at) if noticed_at else None
        noticed_at = created_at
    return DriftNotice(setup, noticed_at, None) if noticed_at else None


def model_names(run: Run) -> list[str]:
    """Return the model names that the endpoint reported in this recheck."""
    return sorted(set(run.replies.exclude(model="").values_list("model", flat=True)))
