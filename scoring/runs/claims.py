"""Batches of a run, claimed by workers one at a time."""

from datetime import datetime

from django.db.models import F
from django.utils import timezone

from annotation.models.leases import lease_end
from scoring.models import Batch, Reservation, Run

FIRST_DELAY_S, GROWTH, LONGEST_DELAY_S = 5, 4, 300


def claim_batch(run_id: int, now: datetime | None = None) -> Batch | None:
    """Claim a batch of the run for this worker; None if there is none to claim."""
    now = now or timezone.now()
    if not Run.objects.filter(pk=run_id, status__in=Run.UNFINISHED).exists():
        return None
    batch = Batch.objects.filter(run=run_id).select_related("run").claim(now)
    if batch is not None:
        Run.objects.filter(pk=run_id, status=Run.Status.QUEUED).update(
            status=Run.Status.RUNNING, started_at=now
        )
    return batch


def renew_claim(batch: Batch) -> bool:
    """Renew the lease of the batch and of its reserved money; False if the lease was lost."""
    Reservation.objects.filter(holder=batch.token).update(until=lease_end(timezone.now()))
    return batch.renew()


def postpone_batch(batch: Batch) -> bool:
    """Release the batch after a temporary failure, with a growing delay; False if the lease was lost."""
    return batch.release(min(LONGEST_DELAY_S, FIRST_DELAY_S * GROWTH ** (batch.attempts - 1)))


def return_batch(batch: Batch, delay_s: float = 0) -> None:
    """Release the batch for this long, without counting the attempt."""
    batch.release(delay_s, attempts=F("attempts") - 1)
