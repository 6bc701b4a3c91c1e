"""Waking a worker for trainings and registrations that wait."""

from datetime import datetime

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.database.wake_ups import send_task
from scoring.models import CurveModel, LearningCurve, RegisteredModel, Training
from scoring.workers.presence import is_served
from scoring.workers.wake_ups import RECRUIT_S


def wake(training: Training, expires_s: float | None = None) -> None:
    """Wake a worker for `training` once the transaction is committed."""
    send_task("work_on_training", training.pk, training_queue(), expires_s)


def training_queue() -> str:
    """Return the queue that the next training goes to.

    It is the one for trainings, if a worker serves it, since a training holds its process to its end. Else it
    is the one for GPUs, or the one for all.
    """
    return next((each for each in ("training", "gpu") if is_served(each)), "cpu")


def wake_next(curve: LearningCurve) -> None:
    """Wake a worker for the learning curve's next training, unless one of them is with a worker."""
    for training in next_in_line(timezone.now()).filter(curve_model__curve=curve).only("pk"):
        wake(training)


def wake_for_registration(found: RegisteredModel, expires_s: float | None = None) -> None:
    """Wake a worker for a model to be tried once the transaction is committed: with a GPU, if one has it."""
    send_task("work_on_registration", found.pk, "gpu" if is_served("gpu") else "cpu", expires_s)


def wake_waiting_trainings() -> None:
    """Wake a worker for every training and registration that no worker holds; called by the sweep.

    The message expires before the next one, so that messages never pile up while all workers are busy.
    """
    for training in next_in_line(timezone.now()).only("pk"):
        wake(training, expires_s=5 * RECRUIT_S)
    for registration in RegisteredModel.objects.claimable(timezone.now()).only("pk"):
        wake_for_registration(registration, expires_s=5 * RECRUIT_S)


def next_in_line(now: datetime) -> QuerySet[Training]:
    """Return the trainings that a worker may take: of a learning curve one after another."""
    earlier = CurveModel.objects.filter(
        curve=OuterRef("curve_model__curve"),
        training__status__in=Training.UNFINISHED,
        training__lt=OuterRef("pk"),
    )
    waiting = Training.objects.claimable(now).filter(status__in=Training.UNFINISHED)
    return waiting.filter(~Exists(earlier))
