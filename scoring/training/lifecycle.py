"""Cancelling, resuming and deleting trainings."""

import shutil
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.errors import NotFound
from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.errors import TrainingBusy
from scoring.models import Training
from scoring.training.model_uses import refuse_in_use
from scoring.training.wake_ups import wake
from scoring.weights.trained_models import remove


def folder_of_training(training: Training) -> Path:
    """Return the folder in which the training works: its checkpoints, and its model until installed."""
    return Path(settings.VAR_DIR) / "trainings" / str(training.pk)


def training_of(project: Project, training_id: int) -> Training:
    """Return the project's training with this id. Raises NotFound."""
    trainings = Training.objects.select_related("created_by").filter(project=project)
    training = one_of(trainings, training_id, "training")
    training.project = project
    return training


def cancel_training(training: Training, user: User) -> None:
    """Ask the training's worker to stop and keep the best weights so far; end it if it has no worker.

    Raises TrainingBusy unless it is unfinished; also as `require`.
    """
    with transaction.atomic():
        stopped = _locked_for(training, user)
        if not stopped.is_unfinished:
            raise TrainingBusy(f"This training cannot be cancelled: it is {stopped.get_status_display()}.")
        now = timezone.now()
        stopped.is_cancelling = True
        if stopped.leased_until is None or stopped.leased_until < now:
            stopped.is_cancelling = False
            stopped.status, stopped.finished_at = Training.Status.CANCELLED, now
            stopped.token, stopped.leased_until = "", None
        stopped.save(update_fields=["is_cancelling", "status", "finished_at", "token", "leased_until"])


def resume_training(training: Training, user: User | None, *, wakes: bool = True) -> None:
    """Queue a cancelled or failed training, which continues at its last checkpoint.

    `user` is None on the command line, which works on it itself (`wakes` False). Raises TrainingBusy for
    other states; also as `require`.
    """
    with transaction.atomic():
        resumed = _locked_for(training, user)
        if not resumed.can_be_resumed:
            raise TrainingBusy(f"This training cannot be resumed: it is {resumed.get_status_display()}.")
        Training.objects.filter(pk=resumed.pk).update(
            status=Training.Status.QUEUED,
            failure="",
            is_cancelling=False,
            finished_at=None,
            not_before=None,
            attempts=0,
        )
        if wakes:
            wake(resumed)


def delete_training(training: Training, user: User) -> None:
    """Delete a training with its checkpoints and its model. Scores by the model stay.

    Raises TrainingBusy if it is unfinished, and ModelInUse while a run or another training uses its model;
    also as `require`.
    """
    with transaction.atomic():
        deleted = _locked_for(training, user)
        if deleted.is_unfinished:
            raise TrainingBusy("This training is in progress. Cancel it first, then delete it.")
        refuse_in_use(deleted.name)
        folder, name = folder_of_training(deleted), deleted.name
        deleted.delete()
    shutil.rmtree(folder, ignore_errors=True)
    remove(name)


def _locked_for(training: Training, user: User | None) -> Training:
    if user is not None:
        require(user, training.project, Permission.MANAGE_RUNS)
    locked = Training.objects.select_for_update().filter(pk=training.pk).first()
    if locked is None:
        raise NotFound("This training has been deleted.")
    return locked
