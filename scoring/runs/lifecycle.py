"""Pausing, failing, cancelling, resuming, deleting and finishing runs.

Whoever writes scores or changes a run locks its setup first, so that changes never overlap.
"""

from collections.abc import Callable
from contextlib import suppress

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import NotFound
from annotation.events.recording import record_event
from annotation.lookups import one_of
from annotation.models import Changed, Event, Project, ProjectChange
from annotation.permissions import Permission, require
from scoring.endpoints.known_models import refuse_unlisted, unfitted
from scoring.errors import RunBusy
from scoring.evaluators import UnknownEvaluator
from scoring.models import Batch, Run, Setup
from scoring.runs.api_batches import cancel_api_batches, resume_api_batches
from scoring.runs.claims import return_batch
from scoring.workers.wake_ups import wake

RESUMABLE = (Run.Status.CANCELLED, Run.Status.FAILED, Run.Status.PAUSED)


def run_of(project: Project, run_id: int) -> Run:
    """Return the project's run with this id. Raises NotFound."""
    runs = Run.objects.select_related("setup", "created_by").filter(setup__project=project)
    run = one_of(runs, run_id, "run")
    run.setup.project = project
    return run


def locked_run(run_id: int) -> Run | None:
    """Lock the run's setup until the transaction ends, and return the run; None if it was deleted."""
    setup = Setup.objects.select_for_update(of=("self",)).filter(runs=run_id).first()
    if setup is None:
        return None
    return Run.objects.select_related("setup__project").filter(pk=run_id).first()


def pause_run(run_id: int, message: str, batch: Batch | None = None) -> None:
    """Pause an unfinished run until somebody resumes it; return the claimed batch uncounted."""
    _stop(run_id, batch, return_batch, status=Run.Status.PAUSED, failure=message)


def fail_run(run_id: int, message: str, batch: Batch | None = None) -> None:
    """Fail an unfinished run with a message for people, and release the claimed batch."""
    ended = timezone.now()
    _stop(run_id, batch, Batch.release, status=Run.Status.FAILED, failure=message, finished_at=ended)


def _stop(
    run_id: int,
    batch: Batch | None,
    give_back: Callable[[Batch], object],
    status: Run.Status,
    **changes: object,
) -> None:
    with transaction.atomic():
        run = locked_run(run_id)
        if run is None:
            return
        if batch is not None:
            give_back(batch)
        if Run.objects.filter(pk=run_id, status__in=Run.UNFINISHED).update(status=status, **changes):
            run.status = status
            record_end(run)


def cancel_run(run: Run, user: User) -> None:
    """Cancel a run that is unfinished, paused, or failed with requests still at the endpoint.

    Its scores stay. Batches in progress and replies of the batch API are still stored. Raises RunBusy for
    other runs.
    """
    with transaction.atomic():
        stopped = _locked_for(run, user)
        if not can_be_cancelled(stopped):
            raise RunBusy(f"This run cannot be cancelled: it is {stopped.get_status_display()}.")
        stopped.status, stopped.failure, stopped.finished_at = Run.Status.CANCELLED, "", timezone.now()
        stopped.save(update_fields=["status", "failure", "finished_at"])
        cancel_api_batches(stopped)
        record_end(stopped)


def can_be_cancelled(run: Run) -> bool:
    return (
        run.is_unfinished
        or run.status == Run.Status.PAUSED
        or (run.status == Run.Status.FAILED and run.api_batches.at_endpoint().exists())
    )


def resume_run(run: Run, user: User | None) -> None:
    """Resume the unfinished batches of a cancelled, failed or paused run; `user` is None on the command line.

    A run whose budget is spent pauses again unless `set_budget` raised it. Raises RunBusy for other states
    and while another run of the setup is in progress, InvalidRun if the operator forbids its endpoint.
    """
    with transaction.atomic():
        resumed = _locked_for(run, user)
        with suppress(UnknownEvaluator, ValueError):  # the worker reports it
            refuse_unlisted(unfitted(run.setup))
        if resumed.status not in RESUMABLE:
            raise RunBusy(f"This run cannot be resumed: it is {resumed.get_status_display()}.")
        refuse_unfinished(resumed.setup.runs.filter(kind=resumed.kind))
        Batch.objects.filter(run=resumed).unfinished().update(attempts=0, not_before=None)
        resumed.status, resumed.failure, resumed.finished_at = Run.Status.QUEUED, "", None
        resumed.save(update_fields=["status", "failure", "finished_at"])
        finish_if_complete(resumed)
        if resumed.delivery == Run.Delivery.BATCH and resumed.batches.unfinished().exists():
            resume_api_batches(resumed)
        else:
            wake(resumed)


def delete_run(run: Run, user: User) -> None:
    """Delete a run and its scores, and its setup if this was the only run.

    Raises RunBusy if it is unfinished or has requests at the endpoint: cancel it first.
    """
    with transaction.atomic():
        deleted = _locked_for(run, user)
        if deleted.is_unfinished:
            raise RunBusy("This run is in progress. Cancel it first, then delete it.")
        if deleted.api_batches.at_endpoint().exists():
            raise RunBusy(
                "The endpoint still has requests of this run. Cancel the run first, and delete it when its "
                "page shows them as cancelled, which may take some minutes."
            )
        setup, setup_id = deleted.setup, deleted.setup_id
        details = {"setup": str(setup), "setup_id": setup_id}
        record(Action.RUN_DELETED, setup.project, f"run {run.pk}", details=details)
        deleted.delete()
        if not setup.runs.of_scores().exists():
            setup.delete()
        setup.project.bump_revision(Changed(ProjectChange.Kind.SETUP, setup_id))


def refuse_unfinished(runs: QuerySet[Run]) -> None:
    """Raise RunBusy if one of the runs is in progress."""
    busy = runs.filter(status__in=Run.UNFINISHED).select_related("setup").first()
    if busy is not None:
        raise RunBusy(f"Run {busy.pk} of {busy.setup.label} is in progress. Wait until it ends.")


def finish_if_complete(run: Run) -> None:
    if not Batch.objects.filter(run=run).unfinished().exists():
        ended = Run.objects.filter(pk=run.pk, status__in=Run.UNFINISHED).update(
            status=Run.Status.DONE, finished_at=timezone.now()
        )
        if ended:
            run.status = Run.Status.DONE
            record_end(run)


def record_end(run: Run) -> None:
    """Store for webhooks that the run is done, failed or cancelled; nothing if it may go on."""
    has_ended = run.status in (Run.Status.DONE, Run.Status.FAILED, Run.Status.CANCELLED)
    if has_ended and run.setup.project.wants_event(Event.Kind.RUN_FINISHED):
        record_event(run.setup.project, Event.Kind.RUN_FINISHED, _event_data(run))


def _event_data(run: Run) -> dict[str, object]:
    setup = run.setup
    return {
        "run": run.pk,
        "kind": run.kind,
        "status": run.status,
        "total": run.total,
        "setup": {"id": setup.pk, "evaluator": setup.evaluator, "label": setup.label},
        "address": reverse("api_run", args=[setup.project.slug, run.pk]),
    }


def _locked_for(run: Run, user: User | None) -> Run:
    if user is not None:
        require(user, run.setup.project, Permission.MANAGE_RUNS)
    locked = locked_run(run.pk)
    if locked is None:
        raise NotFound("This run has been deleted.")
    return locked
