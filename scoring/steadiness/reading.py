"""What has come of asking again."""

from dataclasses import dataclass
from datetime import datetime

from scoring.models import EvaluatorSetup, Reasking


@dataclass(frozen=True)
class Notice:
    """The model behind a setup answers differently than when its scores were made."""

    setup: EvaluatorSetup
    noticed_at: datetime
    """When it was first found so, since when no later look found it as it was."""
    last_same_at: datetime | None
    """When it was last found as it was before; None: no one had looked."""


def replies_of(reasking: Reasking) -> dict[str, dict[int, list[float | None]]]:
    """Dimension -> summary -> its scores, in the order of asking; of a drift the run's own comes first.

    Summaries that have not been asked each time yet are left out.
    """
    expected = reasking.repeats + (reasking.kind == Reasking.Kind.DRIFT)
    found: dict[str, dict[int, list[float | None]]] = {}
    rows = reasking.replies.order_by("dimension", "summary", "repeat")
    for dimension, summary, value in rows.values_list("dimension", "summary", "value"):
        found.setdefault(dimension, {}).setdefault(summary, []).append(value)
    return {
        dimension: {summary: each for summary, each in replies.items() if len(each) == expected}
        for dimension, replies in found.items()
    }


def notice_of(setup: EvaluatorSetup) -> Notice | None:
    """None as long as the latest drift that was found out says that nothing has changed, or there is none."""
    looks = setup.reaskings.filter(kind=Reasking.Kind.DRIFT, has_changed__isnull=False).order_by("-pk")
    noticed_at = None
    for created_at, has_changed in looks.values_list("created_at", "has_changed"):
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
