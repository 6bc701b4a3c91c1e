"""Progress of a learning curve, and cancelling, resuming and deleting its trainings and runs together."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby

from django.contrib.auth.models import User

from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission, require
from metaeval.learning_curves.model_scores import score_trained
from metaeval.learning_curves.shares import percent
from scoring.errors import RunBusy, TrainingBusy
from scoring.models import CurveModel, LearningCurve, Run, Training
from scoring.runs.lifecycle import RESUMABLE, cancel_run, resume_run
from scoring.runs.progress import RunProgress, progress_of_runs
from scoring.training.lifecycle import cancel_training, delete_training, resume_training
from scoring.training.model_uses import refuse_in_use
from scoring.training.wake_ups import wake_next


@dataclass(frozen=True)
class FollowedModel:
    """One model of a learning curve, with the latest run that scores the test articles with it."""

    model: CurveModel
    run: Run | None
    progress: RunProgress | None

    @property
    def training(self) -> Training:
        return self.model.training

    @property
    def share(self) -> str:
        """Its share in words."""
        return percent(self.model.share)

    @property
    def status(self) -> str:
        """Return "done", "unfinished" or "stopped"."""
        if self.is_done:
            return "done"
        return "unfinished" if self.is_unfinished else "stopped"

    @property
    def is_done(self) -> bool:
        """Return whether the figures include the model: trained to the end, and done scoring."""
        return self.training.status == Training.Status.DONE and (
            self.run is not None and self.run.status == Run.Status.DONE
        )

    @property
    def is_unfinished(self) -> bool:
        """Return whether the model is being trained or scored, or waits for it."""
        if self.training.status in Training.UNFINISHED:
            return True
        if self.training.status != Training.Status.DONE or self.model.failure:
            return False
        return not self.model.is_handed_over or (self.run is not None and self.run.is_unfinished)

    @property
    def is_stopped(self) -> bool:
        """Return whether the training stopped and can be resumed."""
        return not self.is_done and not self.is_unfinished


@dataclass(frozen=True)
class FollowedCurve:
    """A learning curve and its models, by share and seed."""

    curve: LearningCurve
    models: Sequence[FollowedModel]

    @property
    def by_share(self) -> list[tuple[str, list[FollowedModel]]]:
        """Each share in words, with its models."""
        return [(share, list(models)) for share, models in groupby(self.models, lambda each: each.share)]

    @property
    def n_trained(self) -> int:
        return sum(each.training.status == Training.Status.DONE for each in self.models)

    @property
    def n_done(self) -> int:
        return sum(each.is_done for each in self.models)

    @property
    def n_unfinished(self) -> int:
        return sum(each.is_unfinished for each in self.models)

    @property
    def n_stopped(self) -> int:
        return sum(each.is_stopped for each in self.models)


def curves_of(project: Project) -> list[FollowedCurve]:
    """Return the project's learning curves, latest first."""
    curves = LearningCurve.objects.filter(project=project).select_related("created_by")
    return _followed(list(curves.defer("pool")))


def curve_of(project: Project, curve_id: int) -> FollowedCurve:
    """Return the project's learning curve with this id. Raises NotFound."""
    curves = LearningCurve.objects.filter(project=project).select_related("created_by")
    curve = one_of(curves.defer("pool"), curve_id, "learning curve")
    curve.project = project
    return _followed([curve])[0]


def cancel_curve(followed: FollowedCurve, user: User) -> int:
    """Cancel every unfinished training and run, and return how many models that stops. Scores stay."""
    require(user, followed.curve.project, Permission.MANAGE_RUNS)
    stopped = 0
    # The last first, so that no worker takes the next one meanwhile.
    for each in sorted(followed.models, key=lambda each: -each.training.pk):
        with suppress(TrainingBusy, RunBusy):  # the page was outdated
            if each.training.status in Training.UNFINISHED:
                cancel_training(each.training, user)
                stopped += 1
            elif each.run is not None and each.run.is_unfinished:
                cancel_run(each.run, user)
                stopped += 1
    return stopped


def resume_curve(followed: FollowedCurve, user: User | None, *, wakes: bool = True) -> int:
    """Resume what was stopped, and return how many models that concerns.

    A training goes on at its checkpoint, a run where it stood; a model whose scoring could not be started, or
    whose run was deleted, is scored anew. `user` is None on the command line, which trains by itself (`wakes`
    False). Raises as `require`.
    """
    if user is not None:
        require(user, followed.curve.project, Permission.MANAGE_RUNS)
    stopped = [each for each in followed.models if each.is_stopped]
    for each in stopped:
        with suppress(TrainingBusy, RunBusy):  # the page was outdated
            if each.training.can_be_resumed:
                resume_training(each.training, user, wakes=False)
            elif each.run is not None and each.run.status in RESUMABLE:
                resume_run(each.run, user)
            else:
                CurveModel.objects.filter(pk=each.model.pk).update(is_handed_over=False, failure="")
    score_trained(followed.curve)
    if wakes:
        wake_next(followed.curve)
    return len(stopped)


def delete_curve(followed: FollowedCurve, user: User) -> None:
    """Delete the learning curve with its trainings and models. Runs and scores stay.

    Raises, with nothing deleted, TrainingBusy if a training is in progress, and ModelInUse while a run or
    another training uses one of the models; also as `require`.
    """
    require(user, followed.curve.project, Permission.MANAGE_RUNS)
    unfinished = Training.objects.filter(curve_model__curve=followed.curve, status__in=Training.UNFINISHED)
    if unfinished.exists():
        raise TrainingBusy("Trainings of this learning curve are in progress. Cancel them first.")
    trainings = list(Training.objects.filter(curve_model__curve=followed.curve).select_related("project"))
    for training in trainings:
        refuse_in_use(training.name)
    for training in trainings:
        delete_training(training, user)
    followed.curve.delete()


def _followed(curves: Sequence[LearningCurve]) -> list[FollowedCurve]:
    models = list(
        CurveModel.objects.filter(curve__in=curves)
        .select_related("training__project")
        .defer("training__pool")
    )
    runs = Run.objects.of_scores().filter(setup__in={each.setup_id for each in models if each.setup_id})
    latest = {run.setup_id: run for run in runs.select_related("setup__project").order_by("created_at", "pk")}
    progress = progress_of_runs(latest.values())
    by_curve: dict[int, list[FollowedModel]] = {curve.pk: [] for curve in curves}
    for each in models:
        run = latest.get(each.setup_id) if each.setup_id else None
        by_curve[each.curve_id].append(FollowedModel(each, run, progress[run.pk] if run else None))
    return [FollowedCurve(curve, by_curve[curve.pk]) for curve in curves]
