"""Hand-ins in the database: begun with a run, claimed by one worker at a time, followed by another round.

A run whose requests are handed in has an open hand-in for as long as it waits; its batches are worked on
when there is none any more.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F, QuerySet
from django.utils import timezone

from scoring.models import HandIn, Reservation, Run
from scoring.waking import wake, wake_for_hand_in

MOST_ROUNDS = 2
"""Times that a request is handed in before it stays unanswered."""


@dataclass(frozen=True)
class HandInClaim:
    """A worker's right to one hand-in, as long as it renews it."""

    hand_in_id: int
    token: str

    @property
    def held(self) -> QuerySet[HandIn]:
        """The hand-in, if the claim is not lost."""
        return HandIn.objects.open().filter(pk=self.hand_in_id, claimed_by=self.token)


def begin(run: Run, round_: int = 1) -> None:
    """Have what the run's unfinished batches ask collected and handed in.

    The caller's transaction holds the run's setup, or has just made the run.
    """
    wake_for_hand_in(HandIn.objects.create(run=run, round=round_))


def take_up(run: Run) -> None:
    """As `begin`, for a run that goes on: what is handed in already is waited for first."""
    there = run.hand_ins.open()
    if not there.update(round=0, attempts=0, not_before=None):
        begin(run)
    for hand_in in there:
        wake_for_hand_in(hand_in)


def withdraw(run: Run) -> None:
    """Have a worker see at once that the run is cancelled."""
    run.hand_ins.open().update(not_before=None)
    for hand_in in run.hand_ins.open():
        wake_for_hand_in(hand_in)


def go_on(run: Run, round_: int) -> None:
    """What follows when a hand-in of this round has ended. The caller's transaction holds the run's setup."""
    if not run.is_unfinished or run.hand_ins.open().exists():
        return
    unanswered = run.hand_ins.filter(round=round_, answered__lt=F("number"))
    if round_ < MOST_ROUNDS and unanswered.exists():
        begin(run, round_ + 1)
    else:
        wake(run)


def add_lots(run: Run, round_: int, lots: Sequence[tuple[Sequence[int], Sequence[str]]]) -> None:
    """Further hand-ins of the round: ids of summaries, and digests of their requests."""
    for summary_ids, digests in lots:
        hand_in = HandIn.objects.create(
            run=run, round=round_, summary_ids=summary_ids, requests=digests, number=len(digests)
        )
        wake_for_hand_in(hand_in)


def claim_hand_in(hand_in_id: int) -> HandInClaim | None:
    """For settings.CLAIM_LEASE_S; None where there is nothing to do or another worker is at it."""
    token, now = str(uuid.uuid4()), timezone.now()
    claimed = (
        HandIn.objects.claimable(now)
        .filter(pk=hand_in_id)
        .update(claimed_by=token, claimed_until=_lease_end(now), attempts=F("attempts") + 1)
    )
    return HandInClaim(hand_in_id, token) if claimed else None


def renew_hand_in(claim: HandInClaim) -> None:
    claim.held.update(claimed_until=_lease_end(timezone.now()))


def put_back(claim: HandInClaim, delay_s: float, **changed: object) -> bool:
    """Give it back, to be taken up again after this time; False if the claim was lost."""
    not_before = timezone.now() + timedelta(seconds=delay_s)
    return bool(claim.held.update(claimed_by="", claimed_until=None, not_before=not_before, **changed))


def money_of(hand_in: HandIn) -> str:
    """Who holds what is set aside for it."""
    return f"hand-in {hand_in.pk}"


def keep_money(hand_in: HandIn, until: datetime) -> None:
    """What is set aside for it counts as under way until then."""
    Reservation.objects.filter(run=hand_in.run_id, holder=money_of(hand_in)).update(until=until)


def _lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.CLAIM_LEASE_S)
