"""The sealed part of the labels: for which versions of judges it was opened, and what would open it unseen.

What is sealed is how a version does there. A run of the version's own parameters over sealed articles would
show that on every page with results, so it is refused until the version was opened, and one that went before
the version counts as an opening. Runs of other parameters are not held back.
"""

from collections.abc import Collection

from django.db.models import QuerySet

from annotation.models import Project, Summary
from scoring.alignment.judges import completed
from scoring.alignment.parts import Part
from scoring.alignment.split import articles_in, split_of
from scoring.contract import Evaluator
from scoring.errors import InvalidRun
from scoring.items import CHUNK
from scoring.models import (
    EvaluatorSetup,
    Judge,
    JudgeVersion,
    Run,
    Score,
    SealedOpening,
    SeenArticle,
    Trial,
)
from scoring.params import params_as_json
from scoring.pool import Labels


def openings_of(project: Project) -> QuerySet[SealedOpening]:
    """All there were in the project, the earliest first: each was a look at its sealed labels."""
    found = SealedOpening.objects.filter(version__judge__project=project)
    return found.select_related("version__judge", "opened_by")


def refuse_sealed(project: Project, evaluator: Evaluator, summary_ids: Collection[int]) -> None:
    """Raise InvalidRun if scores of these summaries would show how an unopened version does when sealed."""
    unopened = JudgeVersion.objects.filter(judge__project=project, judge__evaluator=evaluator.name)
    params = params_as_json(evaluator.params)
    for version in unopened.filter(openings__isnull=True).select_related("judge"):
        if completed(evaluator.name, version.params) == params and _hold_sealed(project, summary_ids):
            raise InvalidRun(
                f"These are the parameters of {version}, and some of the summaries are sealed: a run would "
                "show how it does on labels that are kept for the end. Try it on the tuning part, or open "
                "the sealed part for it, on the judge's page."
            )


def count_earlier_runs(version: JudgeVersion) -> None:
    """Count runs of the version's parameters that scored sealed articles before it was tried as openings."""
    if version.openings.exists():
        return
    judge: Judge = version.judge
    split = split_of(judge.project)
    assert split is not None
    params = completed(judge.evaluator, version.params)
    same = [
        setup.pk
        for setup in EvaluatorSetup.objects.filter(project=judge.project, evaluator=judge.evaluator)
        if completed(judge.evaluator, setup.params) == params
    ]
    sealed = articles_in(split, [Part.SEALED])
    scores = Score.objects.computed().filter(setup__in=same, summary__article__in=sealed)
    for run_id in scores.values_list("run", flat=True).distinct():
        run = Run.objects.get(pk=run_id)
        SealedOpening.objects.create(
            version=version,
            how=SealedOpening.How.RUN,
            run=run,
            opened_by=run.created_by,
            opened_at=run.started_at or run.created_at,
        )


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
