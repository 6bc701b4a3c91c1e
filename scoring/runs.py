"""A run under way: claiming batches, recording scores, and what people do with runs.

Whoever writes scores or changes a run locks its setup first, so that they never overlap.
"""

import uuid
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from annotation.errors import NotFound
from annotation.models import Changed, Project, ProjectChange, Summary
from annotation.permissions import Permission, require
from annotation.protocol import LARGEST_NUMBER
from scoring.contract import Scored, shares_in_words
from scoring.delivery.hand_ins import take_up, withdraw
from scoring.endpoints.remembered import refuse_unlisted, unfitted
from scoring.errors import RunBusy
from scoring.evaluators import UnknownEvaluator
from scoring.items import CHUNK
from scoring.models import Batch, EvaluatorSetup, Reservation, Run, Score
from scoring.waking import wake

FIRST_DELAY_S, LONGEST_DELAY_S = 5, 300
LONGEST_REASON = 500  # characters
RESUMABLE = (Run.Status.CANCELLED, Run.Status.FAILED, Run.Status.PAUSED)
CANDIDATES = 16  # batches looked at in one go; others may claim some of them first


@dataclass(frozen=True)
class Claim:
    """A worker's right to one batch, as long as it renews it; the token tells it from earlier claims."""

    batch_id: int
    run_id: int
    setup_id: int
    token: str
    summary_ids: tuple[int, ...]
    attempt: int
    """1 for the first claim of this batch."""


def claim_batch(run_id: int, now: datetime | None = None) -> Claim | None:
    """A batch of the run for this worker alone, for settings.CLAIM_LEASE_S; None when there is none to take.

    A conditional UPDATE decides between workers, so no lock is held while the model runs.
    """
    now = now or timezone.now()
    run = Run.objects.filter(pk=run_id, status__in=Run.UNFINISHED).only("setup").first()
    if run is None:
        return None
    while True:
        claimable = Batch.objects.claimable(now).filter(run=run_id)
        candidates = list(claimable.order_by("number")[:CANDIDATES])
        if not candidates:
            return None
        for batch in candidates:
            token = str(uuid.uuid4())
            claimed = (
                Batch.objects.claimable(now)
                .filter(pk=batch.pk, attempts=batch.attempts)
                .update(
                    state=Batch.State.CLAIMED,
                    claimed_by=token,
                    claimed_until=_lease_end(now),
                    attempts=batch.attempts + 1,
                )
            )
            if claimed:
                Run.objects.filter(pk=run_id, status=Run.Status.QUEUED).update(
                    status=Run.Status.RUNNING, started_at=now
                )
                return Claim(
                    batch.pk, run_id, run.setup_id, token, tuple(batch.summary_ids), batch.attempts + 1
                )


def renew_claim(claim: Claim) -> bool:
    """Keep the batch, and the money set aside for it, for another lease; False if the claim was lost."""
    until = _lease_end(timezone.now())
    Reservation.objects.filter(holder=claim.token).update(until=until)
    return bool(_held(claim).update(claimed_until=until))


def record_scores(claim: Claim, scored: Mapping[int, Scored], inputs: Mapping[int, str]) -> bool:
    """Store the results of a claimed batch and finish it; False, with nothing written, if the claim was lost.

    `scored` and `inputs` go by summary id. A value is replaced only where the texts have changed, a
    reason by whatever is new. The last batch of a run finishes the run.
    """
    rows = _rows(claim.run_id, claim.setup_id, scored, inputs)
    missing = {(row.summary_id, row.reason) for row in rows if row.reason}
    with transaction.atomic():
        run = locked_run(claim.run_id)
        finished = _held(claim).update(
            state=Batch.State.DONE,
            claimed_by="",
            claimed_until=None,
            finished_at=timezone.now(),
            unscored=len({summary_id for summary_id, _ in missing}),
            reasons=Counter(reason for _, reason in missing),
            cut=sum(bool(each.shares_read) for each in scored.values()),
        )
        if run is None or not finished:
            return False
        _write(claim.setup_id, rows)
        _finish_if_complete(run)
        run.setup.project.bump_revision(Changed(ProjectChange.Kind.BATCH, claim.batch_id))
    return True


def record_finished_run(
    setup: EvaluatorSetup, scored: Mapping[int, Scored], inputs: Mapping[int, str]
) -> Run:
    """A run that is done from the start, with scores that no worker had to compute; values there stay.

    `setup` must be locked by the caller, without an unfinished run; `scored` and `inputs` as in
    `record_scores`.
    """
    now = timezone.now()
    run = Run.objects.create(
        setup=setup, total=len(scored), status=Run.Status.DONE, started_at=now, finished_at=now
    )
    ids = list(scored)
    for start in range(0, len(ids), CHUNK):
        chunk = {pk: scored[pk] for pk in ids[start : start + CHUNK]}
        _write(setup.pk, _rows(run.pk, setup.pk, chunk, inputs))
    setup.project.bump_revision()
    return run


def postpone_batch(claim: Claim) -> bool:
    """Give the batch back after a failure that may pass, to be tried later each time; False if lost."""
    delay_s = min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** (claim.attempt - 1))
    return bool(
        _held(claim).update(
            state=Batch.State.WAITING,
            claimed_by="",
            claimed_until=None,
            not_before=timezone.now() + timedelta(seconds=delay_s),
        )
    )


def hand_back(claim: Claim, delay_s: float) -> None:
    """Give the batch back, to be taken up again after this time, as if it had not been claimed."""
    _held(claim).update(
        state=Batch.State.WAITING,
        claimed_by="",
        claimed_until=None,
        not_before=timezone.now() + timedelta(seconds=delay_s),
        attempts=F("attempts") - 1,
    )


def pause_run(run_id: int, message: str, claim: Claim | None = None) -> None:
    """Stop an unfinished run until somebody resumes it; the claimed batch goes back as if it had not been."""
    with transaction.atomic():
        if locked_run(run_id) is None:
            return
        if claim is not None:
            hand_back(claim, delay_s=0)
        Run.objects.filter(pk=run_id, status__in=Run.UNFINISHED).update(
            status=Run.Status.PAUSED, failure=message
        )


def fail_run(run_id: int, message: str, claim: Claim | None = None) -> None:
    """End an unfinished run with a message for people; the claimed batch goes back for a resumption."""
    with transaction.atomic():
        if locked_run(run_id) is None:
            return
        if claim is not None:
            _held(claim).update(state=Batch.State.WAITING, claimed_by="", claimed_until=None)
        Run.objects.filter(pk=run_id, status__in=Run.UNFINISHED).update(
            status=Run.Status.FAILED, failure=message, finished_at=timezone.now()
        )


def run_of(project: Project, run_id: int) -> Run:
    """The project's run with this id. Raises NotFound."""
    run = Run.objects.select_related("setup", "created_by").filter(pk=run_id, setup__project=project).first()
    if run is None:
        raise NotFound("There is no such run in this project; it may have been deleted.")
    run.setup.project = project
    return run


def cancel_run(run: Run, user: User) -> None:
    """Stop an unfinished or paused run, or a failed one of which something is handed in at the endpoint.

    Its finished scores stay, batches being computed are still taken in, and so is what the endpoint has
    answered of what was handed in. Raises RunBusy if it has ended.
    """
    with transaction.atomic():
        stopped = _locked_for(run, user)
        if not can_be_cancelled(stopped):
            raise RunBusy(f"This run cannot be cancelled: it is {stopped.get_status_display()}.")
        stopped.status, stopped.failure, stopped.finished_at = Run.Status.CANCELLED, "", timezone.now()
        stopped.save(update_fields=["status", "failure", "finished_at"])
        withdraw(stopped)


def can_be_cancelled(run: Run) -> bool:
    return (
        run.is_unfinished
        or run.status == Run.Status.PAUSED
        or (run.status == Run.Status.FAILED and run.hand_ins.at_endpoint().exists())
    )


def resume_run(run: Run, user: User) -> None:
    """Take up a cancelled, failed or paused run with the batches that it has not finished.

    One whose budget is spent pauses again unless `set_budget` has raised it. Raises RunBusy for a run in
    another state, or if another run of the same setup is under way; InvalidRun where it would ask an endpoint
    that pages may not name.
    """
    with transaction.atomic():
        resumed = _locked_for(run, user)
        with suppress(UnknownEvaluator, ValueError):  # a worker will say so
            refuse_unlisted(unfitted(run.setup))
        if resumed.status not in RESUMABLE:
            raise RunBusy(f"This run cannot be resumed: it is {resumed.get_status_display()}.")
        other = resumed.setup.runs.filter(status__in=Run.UNFINISHED).first()
        if other is not None:
            raise RunBusy(f"{resumed.setup.label} is being computed already, by run {other.pk}.")
        Batch.objects.filter(run=resumed).unfinished().update(attempts=0, not_before=None)
        resumed.status, resumed.failure, resumed.finished_at = Run.Status.QUEUED, "", None
        resumed.save(update_fields=["status", "failure", "finished_at"])
        _finish_if_complete(resumed)
        if resumed.delivery == Run.Delivery.BATCH and resumed.batches.unfinished().exists():
            take_up(resumed)
        else:
            wake(resumed)


def delete_run(run: Run, user: User) -> None:
    """Delete a run with the scores that it computed, and its setup if no other run is left.

    Raises RunBusy for an unfinished one, and as long as something is handed in at the endpoint: it has to be
    cancelled first.
    """
    with transaction.atomic():
        deleted = _locked_for(run, user)
        if deleted.is_unfinished:
            raise RunBusy("This run is under way. Cancel it first, then delete it.")
        if deleted.hand_ins.at_endpoint().exists():
            raise RunBusy(
                "Requests of this run are still handed in at the endpoint. Cancel it first; it can go "
                "when its page says that they are taken back, which may take some minutes."
            )
        setup, setup_id = deleted.setup, deleted.setup_id
        deleted.delete()
        if not setup.runs.exists():
            setup.delete()
        setup.project.bump_revision(Changed(ProjectChange.Kind.SETUP, setup_id))


def _lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.CLAIM_LEASE_S)


def _held(claim: Claim) -> QuerySet[Batch]:
    return Batch.objects.filter(pk=claim.batch_id, state=Batch.State.CLAIMED, claimed_by=claim.token)


def locked_run(run_id: int) -> Run | None:
    """The run as it stands, its setup locked until the end of the transaction; None if it was deleted."""
    setup = EvaluatorSetup.objects.select_for_update(of=("self",)).filter(runs=run_id).first()
    if setup is None:
        return None
    return Run.objects.select_related("setup__project").filter(pk=run_id).first()


def _locked_for(run: Run, user: User) -> Run:
    require(user, run.setup.project, Permission.MANAGE_RUNS)
    locked = locked_run(run.pk)
    if locked is None:
        raise NotFound("This run has been deleted.")
    return locked


def _rows(run_id: int, setup_id: int, scored: Mapping[int, Scored], inputs: Mapping[int, str]) -> list[Score]:
    return [
        Score(
            setup_id=setup_id,
            run_id=run_id,
            summary_id=summary_id,
            dimension=dimension,
            explanation=each.explanations.get(dimension) or shares_in_words(each.shares_read),
            inputs=inputs.get(summary_id, ""),
            **_value_or_reason(each, dimension),
        )
        for summary_id, each in scored.items()
        for dimension in each.values
    ]


def _value_or_reason(scored: Scored, dimension: str) -> dict[str, Any]:
    value = scored.values[dimension]
    if abs(value) <= LARGEST_NUMBER:
        return {"value": value, "reason": ""}
    reason = scored.reasons.get(dimension) or f"the evaluator gave {value:g}"
    return {"value": None, "reason": reason[:LONGEST_REASON]}


def _write(setup_id: int, rows: list[Score]) -> None:
    """Insert `rows`, in place of reasons and of values from other texts; other values stay as they are."""
    there = Score.objects.filter(
        setup=setup_id,
        dimension__in={row.dimension for row in rows},
        summary__in={row.summary_id for row in rows},
    )
    inputs = {(row.summary_id, row.dimension): row.inputs for row in rows}
    valid, outdated = set(), []
    for score in there:
        key = (score.summary_id, score.dimension)
        if score.value is not None and score.inputs == inputs[key]:
            valid.add(key)
        else:
            outdated.append(score.pk)
    Score.objects.filter(pk__in=outdated).delete()
    summaries = set(
        Summary.objects.filter(pk__in={row.summary_id for row in rows}).values_list("pk", flat=True)
    )
    Score.objects.bulk_create(
        (row for row in rows if row.summary_id in summaries and (row.summary_id, row.dimension) not in valid),
        batch_size=CHUNK,
    )


def _finish_if_complete(run: Run) -> None:
    if not Batch.objects.filter(run=run).unfinished().exists():
        Run.objects.filter(pk=run.pk, status__in=Run.UNFINISHED).update(
            status=Run.Status.DONE, finished_at=timezone.now()
        )
