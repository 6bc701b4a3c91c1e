"""What has come of asking again."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from scoring.models import EvaluatorSetup, ReaskedReply, Reasking


@dataclass(frozen=True)
class Notice:
    """The model behind a setup answers differently than when its scores were made."""

    setup: EvaluatorSetup
    noticed_at: datetime
    """When it was first found so, since when no later look found it as it was."""
    last_same_at: datetime | None
    """When it was last found as it was before; None: no one had looked."""


Found = dict[str, dict[int, list[float | None]]]
"""Dimension -> summary -> its scores, in the order of asking; of a drift the run's own comes first."""


def replies_of(reasking: Reasking) -> Found:
    """Without summaries that have not been asked each time yet."""
    return replies_of_each([reasking])[reasking.pk]


def replies_of_each(reaskings: Collection[Reasking]) -> dict[int, Found]:
    """By the primary key of each, as `replies_of`."""
    found: dict[int, Found] = {reasking.pk: {} for reasking in reaskings}
    rows = ReaskedReply.objects.filter(reasking__in=found).order_by("dimension", "summary", "repeat")
    for pk, dimension, summary, value in rows.values_list("reasking", "dimension", "summary", "value"):
        found[pk].setdefault(dimension, {}).setdefault(summary, []).append(value)
    expected = {each.pk: each.repeats + (each.kind == Reasking.Kind.DRIFT) for each in reaskings}
    return {
        pk: {
            dimension: {summary: each for summary, each in replies.items() if len(each) == expected[pk]}
            for dimension, replies in by_dimension.items()
        }
        for pk, by_dimension in found.items()
    }


def notice_of(setup: EvaluatorSetup) -> Notice | None:
    """None as long as the latest drift that was found out says that nothing has changed, or there is none."""
    return notices_of([setup]).get(setup.pk)


def notices_of(setups: Collection[EvaluatorSetup]) -> dict[int, Notice]:
    """By the setup's primary key, of those of which there is one."""
    looks: dict[int, list[tuple[datetime, bool]]] = {}
    drifts = Reasking.objects.filter(
        setup__in=setups, kind=Reasking.Kind.DRIFT, has_changed__isnull=False
    ).order_by("-pk")
    for setup_id, created_at, has_changed in drifts.values_list("setup", "created_at", "has_changed"):
        looks.setdefault(setup_id, []).append((created_at, bool(has_changed)))
    found = ((setup, _notice(setup, looks.get(setup.pk, ()))) for setup in setups)
    return {setup.pk: notice for setup, notice in found if notice}


def _notice(setup: EvaluatorSetup, looks: Iterable[tuple[datetime, bool]]) -> Notice | None:
    """By all looks at it, the latest first."""
    noticed_at = None
    for created_at, has_changed in looks:
        if not has_changed:
            return Notice(setup, noticed_at, created_at) if noticed_at else None
        noticed_at = created_at
    return Notice(setup, noticed_at, None) if noticed_at else None


def model_names(reasking: Reasking) -> tuple[list[str], list[str]]:
    """The names that the endpoint told: at first (empty where it was not kept), and when asked again."""
    rows = set(reasking.replies.exclude(model="").values_list("repeat", "model"))
    return (
        sorted({model for repeat, model in rows if repeat == 0}),
        sorted({model for repeat, model in rows if repeat > 0}),
    )
