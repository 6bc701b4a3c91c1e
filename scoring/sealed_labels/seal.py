"""The sealed part of the labels, and the versions of judges it was opened for.

A run of the same judge over sealed articles would reveal how a version scores there, so it is refused until
the part is opened for the version. An earlier such run counts as an opening. The evaluator decides which
parameters make the same judge (`is_same_judge`): another seed, other examples, another timeout or address of
the model do not make another judge; another model or prompt does.
"""

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from django.db.models import Q, QuerySet

from annotation.declared.settings import settings_as_json
from annotation.models import Project, Summary
from scoring.contract.evaluator import Evaluator
from scoring.contract.params import read_params, with_defaults
from scoring.errors import InvalidRun, RunBusy
from scoring.evaluators.bases.asking_evaluator import AskingEvaluator
from scoring.models import (
    JudgeVersion,
    Run,
    Score,
    SealedOpening,
    Setup,
    Trial,
)
from scoring.sealed_labels.label_parts import LabelPart
from scoring.sealed_labels.split import articles_in, split_of

Label = TypeVar("Label")


def openings_of(project: Project) -> QuerySet[SealedOpening]:
    """Return the openings of the project's sealed labels, earliest first."""
    found = SealedOpening.objects.filter(version__judge__project=project)
    return found.select_related("version__judge", "opened_by")


def refuse_sealed(project: Project, evaluator: Evaluator, summary_ids: Collection[int]) -> None:
    """Raise InvalidRun if scores of these summaries would reveal a version's scores on sealed labels.

    The parameters of a version that was opened are allowed, since the opening was counted.
    """
    if not isinstance(evaluator, AskingEvaluator):
        return
    params = settings_as_json(evaluator.params)
    versions = JudgeVersion.objects.filter(judge__project=project, judge__evaluator=evaluator.name)
    opened = versions.filter(openings__isnull=False).values_list("params", flat=True)
    if any(with_defaults(type(evaluator), each) == params for each in opened):
        return
    for version in versions.filter(openings__isnull=True).select_related("judge"):
        if _is_same_judge(evaluator, version.params) and _hold_sealed(project, summary_ids):
            raise InvalidRun(
                f"This is the same judge as {version}, and some of the summaries are sealed, so a run would "
                "reveal its scores on sealed labels. Try it on the tuning part, or open the sealed part for "
                "it, on the judge's page."
            )


def refuse_while_others_would_show(version: JudgeVersion, evaluator: AskingEvaluator) -> None:
    """Raise RunBusy if a run of the same judge has sealed summaries left to score, or would if resumed.

    Such a run would reveal sealed scores after the trial without counting as an opening.
    """
    project = version.judge.project
    others = _runs_of_same_judge(project, evaluator).filter(sealed_openings__isnull=True)
    for run in others.exclude(status=Run.Status.DONE).select_related("setup").order_by("pk"):
        left = {pk for batch in run.batches.unfinished() for pk in batch.summary_ids}
        if _hold_sealed(project, left):
            raise RunBusy(
                f"Run {run.pk} ({run.setup.label}) of the same judge is {run.get_status_display()} and has "
                "sealed summaries left. Let it end, which counts as an opening, or delete it. Then try "
                f"{version}."
            )


def count_earlier_runs(trial: Trial, evaluator: AskingEvaluator) -> None:
    """Count earlier runs of the same judge that scored sealed articles as openings of the trial's version.

    `evaluator` is the version's. A run of the trial's own setup counts for every version that shares it. Any
    other run counts once in the project, unless it was itself a trial or an opening.
    """
    version = trial.version
    if version.openings.exists():
        return
    project = version.judge.project
    split = split_of(project)
    assert split is not None
    others = _runs_of_same_judge(project, evaluator).filter(trials__isnull=True, sealed_openings__isnull=True)
    sealed = Score.objects.computed().filter(summary__article__in=articles_in(split, [LabelPart.SEALED]))
    looks = Run.objects.filter(Q(pk__in=others) | Q(setup=trial.setup), pk__in=sealed.values("run"))
    for run in looks.distinct().order_by("pk"):
        SealedOpening.objects.create(
            version=version,
            how=SealedOpening.How.RUN,
            run=run,
            opened_by=run.created_by,
            opened_at=run.started_at or run.created_at,
        )


def _runs_of_same_judge(project: Project, evaluator: AskingEvaluator) -> QuerySet[Run]:
    same = [
        setup.pk
        for setup in Setup.objects.filter(project=project, evaluator=evaluator.name)
        if _is_same_judge(evaluator, setup.params)
    ]
    return Run.objects.of_scores().filter(setup__in=same)


def _is_same_judge(evaluator: AskingEvaluator, params: Mapping[str, Any]) -> bool:
    """Return whether these parameters make the same judge; never if they are no longer valid."""
    try:
        found = read_params(type(evaluator), with_defaults(type(evaluator), params))
    except ValueError:
        return False
    return evaluator.is_same_judge(found)


def _hold_sealed(project: Project, summary_ids: Collection[int]) -> bool:
    return not _sealed_summaries(project).isdisjoint(summary_ids)


def _sealed_summaries(project: Project) -> set[int]:
    """Return the ids of the summaries of sealed articles; none if there is no split."""
    split = split_of(project)
    if split is None:
        return set()
    sealed = Summary.objects.filter(project=project, article__in=articles_in(split, [LabelPart.SEALED]))
    return set(sealed.values_list("pk", flat=True))


def unsealed(project: Project, labels: Mapping[int, Label]) -> dict[int, Label]:
    """Return the labels, by summary, without those of sealed articles; all if there is no split."""
    return {pk: labels[pk] for pk in sorted(labels.keys() - _sealed_summaries(project))}


def tried_setups(project: Project) -> dict[int, bool]:
    """Return the setups of tried versions -> whether the sealed part was opened for the version."""
    trials = Trial.objects.filter(version__judge__project=project, setup__isnull=False)
    found: dict[int, bool] = {}
    for setup_id, opening_id in trials.values_list("setup", "version__openings"):
        found[setup_id] = found.get(setup_id, False) or opening_id is not None
    return found
