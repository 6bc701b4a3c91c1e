"""Progress of an experiment's runs, and cancelling or resuming them all."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.utils.text import capfirst

from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.contract.params import param_label, value_label
from scoring.errors import RunBusy
from scoring.evaluators import EVALUATORS, load_evaluator
from scoring.models import Experiment, ExperimentMember, Run, Setup
from scoring.runs.lifecycle import RESUMABLE, cancel_run, resume_run
from scoring.runs.progress import RunProgress, progress_of_runs


@dataclass(frozen=True)
class MemberRun:
    """One setup of an experiment, with its latest run."""

    label: str
    setup: Setup
    run: Run | None
    progress: RunProgress | None

    @property
    def is_done(self) -> bool:
        """Return whether the charts include the run."""
        return self.run is not None and self.run.status == Run.Status.DONE


@dataclass(frozen=True)
class Followed:
    """An experiment and its members, in order."""

    experiment: Experiment
    members: Sequence[MemberRun]

    @property
    def varies(self) -> str:
        """Return a title for axes and headings: the setting's label, or the kind of experiment."""
        experiment = self.experiment
        if not experiment.parameter:
            return (
                "Value"
                if experiment.kind == Experiment.Kind.PARAMETER
                else capfirst(experiment.get_kind_display())
            )
        if experiment.evaluator not in EVALUATORS:
            return experiment.parameter
        return param_label(load_evaluator(experiment.evaluator), experiment.parameter)

    @property
    def n_done(self) -> int:
        return sum(member.is_done for member in self.members)

    @property
    def n_unfinished(self) -> int:
        return self._n_runs(Run.UNFINISHED)

    @property
    def n_stopped(self) -> int:
        return self._n_runs(RESUMABLE)

    def _n_runs(self, statuses: Collection[str]) -> int:
        return sum(member.run is not None and member.run.status in statuses for member in self.members)

    @property
    def progress(self) -> RunProgress:
        """The total progress of its runs."""
        each = [member.progress for member in self.members if member.progress]
        return RunProgress(
            sum(progress.total for progress in each),
            sum(progress.done for progress in each),
            sum(progress.unscored for progress in each),
        )


def experiments_of(project: Project) -> list[Followed]:
    """Return the project's experiments, latest first."""
    experiments = list(Experiment.objects.filter(project=project).select_related("created_by"))
    return _followed(experiments)


def experiment_of(project: Project, experiment_id: int) -> Followed:
    """Return the project's experiment with this id. Raises NotFound."""
    experiments = Experiment.objects.select_related("created_by").filter(project=project)
    return _followed([one_of(experiments, experiment_id, "experiment")])[0]


def cancel_all(followed: Followed, user: User) -> int:
    """Cancel every unfinished run and return how many. Their scores stay."""
    return _on_each(cancel_run, followed, Run.UNFINISHED, user)


def resume_all(followed: Followed, user: User) -> int:
    """Resume every stopped run and return how many."""
    return _on_each(resume_run, followed, RESUMABLE, user)


def delete_experiment(followed: Followed, user: User) -> None:
    """Delete the experiment. Its runs and scores stay."""
    require(user, followed.experiment.project, Permission.MANAGE_RUNS)
    followed.experiment.delete()


def _followed(experiments: Sequence[Experiment]) -> list[Followed]:
    members = list(
        ExperimentMember.objects.filter(experiment__in=experiments)
        .select_related("setup__project")
        .defer("setup__provenance", "setup__pool", "setup__corpus")
    )
    runs = Run.objects.of_scores().filter(setup__in={member.setup_id for member in members})
    latest = {run.setup_id: run for run in runs.order_by("created_at", "pk")}
    progress = progress_of_runs(latest.values())
    by_pk = {experiment.pk: experiment for experiment in experiments}
    by_experiment: dict[int, list[MemberRun]] = {experiment.pk: [] for experiment in experiments}
    for member in members:
        run = latest.get(member.setup_id)
        if run:
            run.setup = member.setup
        label = _in_words(by_pk[member.experiment_id], member.label)
        found = MemberRun(label, member.setup, run, progress[run.pk] if run else None)
        by_experiment[member.experiment_id].append(found)
    return [Followed(experiment, by_experiment[experiment.pk]) for experiment in experiments]


def _in_words(experiment: Experiment, label: str) -> str:
    """Return the label of a member; a value of a setting with choices is written as forms write it."""
    if not experiment.parameter or experiment.evaluator not in EVALUATORS:
        return label
    return value_label(load_evaluator(experiment.evaluator), experiment.parameter, label)


def _on_each(
    act: Callable[[Run, User], None], followed: Followed, statuses: Collection[str], user: User
) -> int:
    require(user, followed.experiment.project, Permission.MANAGE_RUNS)
    done = 0
    for member in followed.members:
        if member.run and member.run.status in statuses:
            with suppress(RunBusy):  # the page was outdated
                act(member.run, user)
                done += 1
    return done
