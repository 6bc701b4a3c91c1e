"""Trying a version of a judge on the tuning part, and judging it in the end on the sealed part."""

from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.models import Changed, Project, ProjectChange
from annotation.permissions import Permission, require
from scoring.alignment.parts import Part
from scoring.alignment.seal import count_earlier_runs, refuse_while_others_would_show
from scoring.alignment.split import articles_in, split_of
from scoring.asking_evaluator import AskingEvaluator
from scoring.errors import InvalidRun, RunBusy
from scoring.items import CHUNK, Selection
from scoring.labelling import unused
from scoring.models import (
    EvaluatorSetup,
    JudgeVersion,
    LabelSplit,
    Run,
    SealedOpening,
    SeenArticle,
    Trial,
)
from scoring.planning import RunPlan, plan, start
from scoring.pool import Labels, pool_labels

CHOSE_THE_PROMPT = "labels chose the prompt"
"""Why an article counts as seen by a setup that was tried on it, or could have drawn examples from it."""
NOT_SPLIT = "Split the project's labels into pool, tuning and sealed first."


def plan_of(version: JudgeVersion, part: Part) -> RunPlan:
    """What a run of the version over the labelled summaries of this part would do; examples come from the
    pool part alone.

    A version keeps the examples that its first trial drew. Raises InvalidRun as `plan` does, where the labels
    are not split, where the part holds none, or where people have changed the labels of its examples since.
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
    """Queue a run of the version over the tuning part; `budget` is as in `start`.

    Raises InvalidRun as `plan_of` and `start` do, RunBusy if the version is being tried, or a run of the same
    judge has sealed summaries left; what `require` raises.
    """
    project = version.judge.project
    require(user, project, Permission.MANAGE_RUNS)
    with transaction.atomic():
        _lock(project)
        planned = plan_of(version, Part.TUNING)
        assert isinstance(planned.evaluator, AskingEvaluator)
        refuse_while_others_would_show(version, planned.evaluator)
        run = start(planned, user, budget)
        _mark(run.setup, version)
        trial = Trial.objects.create(version=version, run=run, setup=run.setup, started_by=user)
        count_earlier_runs(trial, planned.evaluator)
        project.bump_revision(Changed(ProjectChange.Kind.SETUP, run.setup_id))
    return trial


def open_sealed(version: JudgeVersion, user: User, budget: Decimal | None = None) -> SealedOpening:
    """Judge a tried version on the sealed part: counted for good, with who did it and when; `budget` is as in
    `start`.

    Raises InvalidRun and RunBusy as `plan_to_open` and `start` do; what `require` raises.
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
        project.bump_revision(Changed(ProjectChange.Kind.SETUP, opening.run.setup_id))
    return opening


def plan_to_open(version: JudgeVersion) -> RunPlan:
    """What opening the sealed part for the version would do.

    Raises InvalidRun where it was not tried to the end, or has become another one since, or where there is
    nothing new to see, and as `plan_of` does; RunBusy if its trial is under way.
    """
    tried = last_trial(version)
    if tried is None or tried.run is None or tried.setup is None:
        raise InvalidRun(f"{version} was not tried on the tuning part yet. Try it there first.")
    if tried.run.status != Run.Status.DONE:
        raise RunBusy(f"The trial of {version} is {tried.run.get_status_display()}. Let it finish first.")
    planned = plan_of(version, Part.SEALED)
    if planned.fingerprint != tried.setup.fingerprint:
        raise InvalidRun(
            f"{version} gives other numbers than in its trial: the evaluator has changed since. Try it "
            "again before you open the sealed part for it."
        )
    if not planned.to_score and version.openings.exists():
        raise InvalidRun(f"The sealed part was opened for {version} already, and holds no new label.")
    return planned


def last_trial(version: JudgeVersion) -> Trial | None:
    return version.trials.select_related("run", "setup").order_by("-pk").first()


def _pool(version: JudgeVersion, split: LabelSplit) -> Labels:
    """The labels that the version may learn from: of the pool part, or those that it has learnt from."""
    labels = pool_labels(version.judge.project, articles_in(split, [Part.POOL]))
    tried = last_trial(version)
    drawn: dict[str, dict[str, Any]] = tried.setup.pool if tried and tried.setup else {}
    if not drawn:
        return labels
    kept = {int(pk): dict(by_dimension) for pk, by_dimension in drawn.items()}
    today = {pk: {name: labels.get(pk, {}).get(name) for name in kept[pk]} for pk in kept}
    if today != kept:
        raise InvalidRun(
            f"The labels of the examples of {version} have changed since its trial. Make a new version, "
            "which draws its examples from the labels of today."
        )
    return kept


def _mark(setup: EvaluatorSetup, version: JudgeVersion) -> None:
    """Name the setup after the version, and count all that could have shaped its choice as seen."""
    split = split_of(setup.project)
    assert split is not None
    if not Trial.objects.filter(setup=setup).exists():
        EvaluatorSetup.objects.filter(pk=setup.pk).update(label=unused(setup.project, str(version)))
    seen = SeenArticle.objects.filter(setup=setup).values_list("article", flat=True)
    shaping = articles_in(split, [Part.POOL, Part.TUNING]) - set(seen)
    SeenArticle.objects.bulk_create(
        (SeenArticle(setup=setup, article_id=pk, role=CHOSE_THE_PROMPT) for pk in sorted(shaping)),
        batch_size=CHUNK,
    )


def _lock(project: Project) -> None:
    """Trials, openings and the split of a project follow each other."""
    Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
