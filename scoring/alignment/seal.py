"""The sealed part of the labels: for which versions of judges it was opened, and what would open it unseen.

What is sealed is how a version does there. A run of the same judge over sealed articles would show that on
every page with results, so it is refused until the version was opened, and one that went before the version
counts as an opening. What a person would call the same judge is for its evaluator to say (`is_same_judge`):
another seed, other examples, a longer timeout or another address of the same model make no other judge.
Other models, and other words, are not held back.
"""

from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import Q, QuerySet

from annotation.models import Project, Summary
from scoring.alignment.judges import completed
from scoring.alignment.parts import Part
from scoring.alignment.split import articles_in, split_of
from scoring.asking_evaluator import AskingEvaluator
from scoring.contract import Evaluator
from scoring.errors import InvalidRun, RunBusy
from scoring.items import CHUNK
from scoring.models import (
    EvaluatorSetup,
    JudgeVersion,
    Run,
    Score,
    SealedOpening,
    SeenArticle,
    Trial,
)
from scoring.params import params_as_json, read_params
from scoring.pool import Labels


def openings_of(project: Project) -> QuerySet[SealedOpening]:
    """All there were in the project, the earliest first: each was a look at its sealed labels."""
    found = SealedOpening.objects.filter(version__judge__project=project)
    return found.select_related("version__judge", "opened_by")


def refuse_sealed(project: Project, evaluator: Evaluator, summary_ids: Collection[int]) -> None:
    """Raise InvalidRun if scores of these summaries would show how an unopened version does when sealed.

    Not for the parameters of a version that was opened: what they would show was counted.
    """
    if not isinstance(evaluator, AskingEvaluator):
        return
    params = params_as_json(evaluator.params)
    versions = JudgeVersion.objects.filter(judge__project=project, judge__evaluator=evaluator.name)
    opened = versions.filter(openings__isnull=False).values_list("params", flat=True)
    if any(completed(evaluator.name, each) == params for each in opened):
        return
    for version in versions.filter(openings__isnull=True).select_related("judge"):
        if _is_same_judge(evaluator, version.params) and _hold_sealed(project, summary_ids):
            raise InvalidRun(
                f"This is the same judge as {version}, by its model, prompt, mode and words, and some of the "
                "summaries are sealed: a run would show how it does on labels that are kept for the end. Try "
                "it on the tuning part, or open the sealed part for it, on the judge's page."
            )


def refuse_while_others_would_show(version: JudgeVersion, evaluator: AskingEvaluator) -> None:
    """Raise RunBusy for a run of the same judge that has sealed summaries left to score, or would if resumed:
    it would show them once the version is tried, and be counted nowhere.
    """
    project = version.judge.project
    others = _runs_of_same_judge(project, evaluator).filter(sealed_openings__isnull=True)
    for run in others.exclude(status=Run.Status.DONE).select_related("setup").order_by("pk"):
        left = {pk for batch in run.batches.unfinished() for pk in batch.summary_ids}
        if _hold_sealed(project, left):
            raise RunBusy(
                f"Run {run.pk} ({run.setup.label}) is of the same judge, is {run.get_status_display()}, and "
                "has sealed summaries left. Let it end, which counts as an opening, or delete it; then try "
                f"{version}."
            )


def count_earlier_runs(trial: Trial, evaluator: AskingEvaluator) -> None:
    """Count runs of the same judge that scored sealed articles before its version was tried as openings.

    `evaluator` is the version's. A run of the trial's own setup counts for every version that shares it; of
    other runs each counts once in the project, and none that a version was tried or opened by.
    """
    version = trial.version
    if version.openings.exists():
        return
    project = version.judge.project
    split = split_of(project)
    assert split is not None
    others = _runs_of_same_judge(project, evaluator).filter(trials__isnull=True, sealed_openings__isnull=True)
    sealed = Score.objects.computed().filter(summary__article__in=articles_in(split, [Part.SEALED]))
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
        for setup in EvaluatorSetup.objects.filter(project=project, evaluator=evaluator.name)
        if _is_same_judge(evaluator, setup.params)
    ]
    return Run.objects.filter(setup__in=same)


def _is_same_judge(evaluator: AskingEvaluator, params: Mapping[str, Any]) -> bool:
    """Never for parameters that cannot be read any more, which nobody can run."""
    try:
        found = read_params(type(evaluator), completed(evaluator.name, params))
    except ValueError:
        return False
    return evaluator.is_same_judge(found)


def _hold_sealed(project: Project, summary_ids: Collection[int]) -> bool:
    split = split_of(project)
    if split is None:
        return False
    sealed = Summary.objects.filter(article__in=articles_in(split, [Part.SEALED])).values_list(
        "pk", flat=True
    )
    return not set(sealed).isdisjoint(summary_ids)


def unsealed(project: Project, labels: Labels) -> Labels:
    """Without the labels of sealed articles; all of them where the project's labels are not split."""
    split = split_of(project)
    if split is None:
        return labels
    sealed = Summary.objects.filter(project=project, article__in=articles_in(split, [Part.SEALED]))
    kept = labels.keys() - set(sealed.values_list("pk", flat=True))
    return {pk: labels[pk] for pk in sorted(kept)}


def tried_setups(project: Project) -> dict[int, bool]:
    """Setup of each version that was tried -> whether the sealed part was opened for the version."""
    trials = Trial.objects.filter(version__judge__project=project, setup__isnull=False)
    found: dict[int, bool] = {}
    for setup_id, opening_id in trials.values_list("setup", "version__openings"):
        found[setup_id] = found.get(setup_id, False) or opening_id is not None
    return found


def keep_as_trial(setup: EvaluatorSetup, old: EvaluatorSetup, run: Run) -> None:
    """Scores that `run` made for `setup` out of those of `old` are of the same versions and no less tried."""
    seen = SeenArticle.objects.filter(setup=old).values_list("article", "role")
    SeenArticle.objects.bulk_create(
        (SeenArticle(setup=setup, article_id=article, role=role) for article, role in seen),
        batch_size=CHUNK,
        ignore_conflicts=True,
    )
    trials = Trial.objects.filter(setup=old).order_by("pk")
    for version_id, user_id in dict(trials.values_list("version", "started_by")).items():
        Trial.objects.create(version_id=version_id, setup=setup, run=run, started_by_id=user_id)
