"""A worker's steps in a training: claim a training, follow it, install its model. Safe under kill -9."""

import logging
import shutil
import time

from django.db import OperationalError, transaction
from django.utils import timezone

from annotation.models import LeaseLost
from scoring.contract.evaluator import EvaluatorError
from scoring.errors import InvalidTraining
from scoring.models import Training, TrainingPoint
from scoring.runs.worker import unexpected_error_message
from scoring.trainers.contract import CannotTrain, Point, Trained, Watch
from scoring.training.items import pool_of, training_items
from scoring.training.lifecycle import folder_of_training
from scoring.training.planning import trainer_of
from scoring.weights.trained_models import install
from scoring.workers.lease_keeper import keep_leased

MOST_ATTEMPTS = 5
"""Leases without progress before a training fails."""
ASK_EVERY_S = 1.0
"""Seconds between two looks at whether the training is cancelled."""
MODEL = "model"
"""The name of the model's folder, in the training's folder."""
RETRY_S = 30.0
"""Seconds until a training is tried again whose database failed."""

logger = logging.getLogger(__name__)


class StoredCurves(Watch):
    """Stores the points of a claimed training, and sees whether somebody has cancelled it."""

    def __init__(self, training: Training) -> None:
        self._training = training
        self._furthest = training.steps
        self._due = 0.0
        self._is_cancelled = False

    def report(self, point: Point) -> None:
        """Store the point. Raises LeaseLost."""
        try:
            with transaction.atomic():
                self._store(point)
        except OperationalError:  # the next point may be stored
            logger.warning("A point of training %s is lost.", self._training.pk, exc_info=True)

    def is_cancelled(self) -> bool:
        """Return whether to stop. Raises LeaseLost."""
        if not self._is_cancelled and time.monotonic() >= self._due:
            self._due = time.monotonic() + ASK_EVERY_S
            try:
                asked = self._training.held.values_list("is_cancelling", flat=True).first()
            except OperationalError:
                return False
            if asked is None:
                raise LeaseLost
            self._is_cancelled = asked
        return self._is_cancelled

    def _store(self, point: Point) -> None:
        is_progress = point.step > self._furthest
        self._furthest = max(self._furthest, point.step)
        told = {"examples_per_s": point.examples_per_s, "seconds_left": point.seconds_left}
        changes = {name: value for name, value in told.items() if value is not None}
        if is_progress:
            changes |= {"steps": self._furthest, "attempts": 1}
        if not self._training.renew(**changes):
            raise LeaseLost
        stored, created = TrainingPoint.objects.get_or_create(
            training=self._training,
            step=point.step,
            defaults={"epoch": point.epoch, "loss": point.loss, "measures": dict(point.measures)},
        )
        if not created:  # a resumed training repeats the steps after its checkpoint
            stored.loss = stored.loss if point.loss is None else point.loss
            stored.measures |= point.measures
            stored.save(update_fields=["loss", "measures"])


def work_on_training(training_id: int) -> None:
    """Claim a training and train to its end. Do nothing if another worker has it."""
    training = claim_training(training_id)
    if training is not None:
        train(training, StoredCurves(training))


def train(training: Training, watch: Watch) -> None:
    """Train a claimed training to its end, followed by `watch`, and record how it ended."""
    training_id = training.pk
    try:
        with keep_leased(training.renew, f"training {training_id}"):
            failure = _train(training, watch)
        if failure:
            training.finish(status=Training.Status.FAILED, failure=failure)
    except LeaseLost:
        logger.warning("Training %s was deleted or is with another worker.", training_id)
    except OperationalError:
        logger.exception("Training %s will be continued.", training_id)
        training.release(RETRY_S)


def claim_training(training_id: int) -> Training | None:
    """Return the training, leased to this worker; None if it is not claimable.

    One that was claimed `MOST_ATTEMPTS` times without progress fails instead.
    """
    now = timezone.now()
    claimable = Training.objects.filter(pk=training_id, status__in=Training.UNFINISHED)
    claimable.claimable(now).filter(attempts__gte=MOST_ATTEMPTS).update(
        status=Training.Status.FAILED,
        failure=f"Given up after {MOST_ATTEMPTS} attempts without progress. Each time the worker was killed, "
        "perhaps because memory ran out. Choose a smaller batch or model, or shorter texts.",
        token="",
        leased_until=None,
        finished_at=now,
    )
    return claimable.select_related("project").claim(now, status=Training.Status.RUNNING, started_at=now)


def _train(training: Training, watch: Watch) -> str:
    """Train, install the best weights and finish; return why that failed, or an empty text."""
    folder = folder_of_training(training)
    try:
        trainer = trainer_of(training.method, training.params)
        data = trainer.prepare(training_items(pool_of(training)))
        folder.mkdir(parents=True, exist_ok=True)
        trained = trainer.train(data, folder, watch, f"project {training.project.slug}")
        if not training.held.exists():
            raise LeaseLost
        install(folder / MODEL, training.name)
    except (LeaseLost, OperationalError):
        raise
    except (InvalidTraining, CannotTrain, EvaluatorError) as error:
        return str(error)
    except Exception as error:
        logger.exception("Training %s failed.", training.pk)
        return unexpected_error_message(error)
    _finish(training, trained)
    if not trained.cancelled:
        shutil.rmtree(folder, ignore_errors=True)
    return ""


def _finish(training: Training, trained: Trained) -> None:
    training.finish(
        status=Training.Status.CANCELLED if trained.cancelled else Training.Status.DONE,
        is_cancelling=False,
        has_model=True,
        steps=trained.steps,
        best_step=trained.best_step,
        measures=dict(trained.measures),
        intervals=dict(trained.intervals),
        seconds_left=None,
        failure="",
    )
