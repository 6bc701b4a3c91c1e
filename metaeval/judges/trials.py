"""Trials of a judge's version on the tuning part, and openings of the sealed part."""

from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.models import Changed, Project, ProjectChange
from annotation.permissions import Permission, require
from scoring.errors import InvalidRun, RunBusy
from scoring.evaluators.bases.asking_evaluator import AskingEvaluator
from scoring.inputs.items import Selection
from scoring.inputs.labelled_pool import Labels, pool_labels
from scoring.inputs.seen_articles import count_as_seen
from scoring.inputs.setup_labels import unused
from scoring.models import (
    JudgeVersion,
    LabelSplit,
    Run,
    SealedOpening,
    Setup,
    Trial,
)
from scoring.runs.planning import RunPlan, plan, start
from scoring.sealed_labels.label_parts import LabelPart
from scoring.sealed_labels.seal import count_earlier_runs, refuse_while_others_would_show
from scoring.sealed_labels.split import articles_in, split_of

CHOSE_THE_PROMPT = "labels chose the prompt"
"""The reason why an article of the pool or tuning part counts as seen by a setup."""
NOT_SPLIT = "Split the project's labels into pool, tuning and sealed first."


def plan_of(version: JudgeVersion, part: LabelPart) -> RunPlan:
    """Plan a run of the version over the labelled summaries of this part.

    Examples come from the pool part; a version keeps those of its first trial. Raises InvalidRun as `plan`,
    and if there is no label split, no label in this part, or a changed label among the examples.
    """
    judge = version.judge
    split = split_of(judge.project)
    if split is None:
        raise InvalidRun(NOT_SPLIT)
    planned = plan(
        judge.project,
        judge.evaluator,
        version.params,
        Selection(rated_only=True, articles=articles_in(split, [part])),
        pool=_pool(version, split),
    )
    if not planned.to_score and not planned.reused:
        raise InvalidRun(f"No summary in the {part} part has a label yet.")
    return planned


def try_version(version: JudgeVersion, user: User, budget: Decimal | None = None) -> Trial:
    """Start a run of the version over the tuning part; `budget` is as in `start`.

    Raises as `plan_of`, `start` and `require`; RunBusy if a run of the same judge has sealed summaries left.
    """
    project = version.judge.project
    require(user, project, Permission.MANAGE_RUNS)
    with transaction.atomic():
        _lock(project)
        planned = plan_of(version, LabelPart.TUNING)
        assert isinstance(planned.evaluator, AskingEvaluator)
        refuse_while_others_would_show(version, planned.evaluator)
        run = start(planned, user, budget)
        _mark(run.setup, version)
        trial = Trial.objects.create(version=version, run=run, setup=run.setup, started_by=user)
        count_earlier_runs(trial, planned.evaluator)
        project.bump_revision(Changed(ProjectChange.Kind.SETUP, run.setup_id))
    return trial


def open_sealed(version: JudgeVersion, user: User, budget: Decimal | None = None) -> SealedOpening:
    """Start a run of a tried version over the sealed part, and record the opening for good.

    `budget` is as in `start`. Raises as `plan_to_open`, `start` and `require`.
    """
    project = version.judge.project
    require(user, project, Permission.MANAGE_RUNS)
    with transaction.atomic():
        _lock(project)
        planned = plan_to_open(version)
        opening = SealedOpening.objects.create(version=version, opened_by=user, opened_at=timezone.now())
        opening.run = start(planned, user, budget)
        opening.save(update_fields=["run"])
        _mark(opening.run.setup, version)
        record(Action.SEALED_LABELS_OPENED, project, version)
        project.bump_revision(Changed(ProjectChange.Kind.SETUP, opening.run.setup_id))
    return opening


def plan_to_open(version: JudgeVersion) -> RunPlan:
    """Plan a run of the version over the sealed part.

    Raises InvalidRun if it has no trial, if its fingerprint changed since, if no sealed label is new, and as
    `plan_of`; RunBusy if its trial is not done.
    """
    tried = last_trial(version)
    if tried is None or tried.run is None or tried.setup is None:
        raise InvalidRun(f"{version} has no trial yet. Try it on the tuning part first.")
    if tried.run.status != Run.Status.DONE:
        raise RunBusy(f"The trial of {version} is {tried.run.get_status_display()}. Let it finish first.")
    planned = plan_of(version, LabelPart.SEALED)
    if planned.fingerprint != tried.setup.fingerprint:
        raise InvalidRun(
            f"{version} would score differently than in its trial: the evaluator has changed. Try it again "
            "before you open the sealed part."
        )
    if not planned.to_score and version.openings.exists():
        raise InvalidRun(f"The sealed part is already open for {version} and has no new labels.")
    return planned


def last_trial(version: JudgeVersion) -> Trial | None:
    return version.trials.select_related("run", "setup").order_by("-pk").first()


def _pool(version: JudgeVersion, split: LabelSplit) -> Labels:
    """Return the labels of the version's examples, or before its first trial those of the pool part."""
    labels = pool_labels(version.judge.project, articles_in(split, [LabelPart.POOL]))
    tried = last_trial(version)
    drawn: dict[str, dict[str, Any]] = tried.setup.pool if tried and tried.setup else {}
    if not drawn:
        return labels
    kept = {int(pk): dict(by_dimension) for pk, by_dimension in drawn.items()}
    today = {pk: {name: labels.get(pk, {}).get(name) for name in kept[pk]} for pk in kept}
    if today != kept:
        raise InvalidRun(
            f"The labels of the examples of {version} have changed since its trial. Make a new version to "
            "draw new examples."
        )
    return kept


def _mark(setup: Setup, version: JudgeVersion) -> None:
    """Name the setup after the version, and count pool and tuning articles as seen."""
    split = split_of(setup.project)
    assert split is not None
    if not Trial.objects.filter(setup=setup).exists():
        Setup.objects.filter(pk=setup.pk).update(label=unused(setup.project, str(version)))
    shaping = articles_in(split, [LabelPart.POOL, LabelPart.TUNING])
    count_as_seen(setup, shaping, CHOSE_THE_PROMPT)


def _lock(project: Project) -> None:
    """Serialise trials, openings and changes of the split."""
    Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
