"""Waking a worker for trainings that wait."""

from django.utils import timezone

from scoring.models import Training
from scoring.workers.presence import is_served
from scoring.workers.wake_ups import RECRUIT_S, send_task


def wake(training: Training, expires_s: float | None = None) -> None:
    """Wake a worker for `training` once the transaction is committed: one with a GPU, if there is one."""
    send_task("work_on_training", training.pk, "gpu" if is_served("gpu") else "cpu", expires_s)


def wake_waiting_trainings() -> None:
    """Wake a worker for every training that no worker holds; called by the sweep.

    The message expires before the next one, so that messages never pile up while all workers are busy.
    """
    waiting = Training.objects.claimable(timezone.now()).filter(status__in=Training.UNFINISHED)
    for training in waiting.only("pk"):
        wake(training, expires_s=5 * RECRUIT_S)
