"""Verdicts of finished drift rechecks."""

from scoring.models import Run
from scoring.rechecks.comparison import LEVEL, p_unchanged
from scoring.rechecks.reading import replies_of

NOTHING_TO_COMPARE = "No summary can be compared: their texts have changed or the summaries were deleted."


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
