"""API batches of a run: started with it and repeated for unanswered requests.

A run sent by the batch API has unfinished API batches while it waits. Workers score its batches once none is
left.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import F

from scoring.models import ApiBatch, Reservation, Run
from scoring.workers.wake_ups import wake, wake_for_api_batch

MOST_ROUNDS = 2
"""Times that a request is submitted before it counts as unanswered."""


def start_api_batches(run: Run, round_: int = 1) -> None:
    """Have a worker collect and submit the requests of the run's unfinished batches.

    The caller's transaction must have locked the run's setup or created the run.
    """
    wake_for_api_batch(ApiBatch.objects.create(run=run, round=round_))


def resume_api_batches(run: Run) -> None:
    """Check the resumed run's submitted requests now; if there are none, submit."""
    there = run.api_batches.unfinished()
    if not there.update(round=0, attempts=0, not_before=None):
        start_api_batches(run)
    for api_batch in there:
        wake_for_api_batch(api_batch)


def cancel_api_batches(run: Run) -> None:
    """Have workers cancel the run's API batches at the endpoint now."""
    run.api_batches.unfinished().update(not_before=None)
    for api_batch in run.api_batches.unfinished():
        wake_for_api_batch(api_batch)


def after_api_batch(run: Run, round_: int) -> None:
    """Submit unanswered requests again, or have the run scored, if this round has ended.

    The caller's transaction must have locked the run's setup.
    """
    if not run.is_unfinished or run.api_batches.unfinished().exists():
        return
    unanswered = run.api_batches.filter(round=round_, answered__lt=F("number"))
    if round_ < MOST_ROUNDS and unanswered.exists():
        start_api_batches(run, round_ + 1)
    else:
        wake(run)


def add_api_batches(run: Run, round_: int, lots: Sequence[tuple[Sequence[int], Sequence[str]]]) -> None:
    """Add API batches to the round, one for each pair of summary ids and request digests."""
    for summary_ids, digests in lots:
        api_batch = ApiBatch.objects.create(
            run=run, round=round_, summary_ids=summary_ids, requests=digests, number=len(digests)
        )
        wake_for_api_batch(api_batch)


def reservation_holder(api_batch: ApiBatch) -> str:
    """Return the holder of the money reserved for this API batch."""
    return f"API batch {api_batch.pk}"


def extend_reservation(api_batch: ApiBatch, until: datetime) -> None:
    """Keep the money reserved for this API batch until then."""
    Reservation.objects.filter(run=api_batch.run_id, holder=reservation_holder(api_batch)).update(until=until)
