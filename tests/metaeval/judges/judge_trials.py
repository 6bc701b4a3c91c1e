"""Judges with trials and openings, whose scores are stored directly."""

from django.utils import timezone

from annotation.models import Summary
from metaeval.judges.trials import CHOSE_THE_PROMPT
from metaeval.judges.versions import add_version
from scoring.models import SealedOpening, SeenArticle, Trial
from scoring.sealed_labels.label_parts import LabelPart
from tests.metaeval.judges.labelled_projects import articles_of
from tests.metaeval.rated_projects import make_setup, score


def summaries_of(project, *parts):
    return list(Summary.objects.filter(article__in=articles_of(project, *parts)).order_by("pk"))


def try_with(version, values, dimension="coherence"):
    """Store a finished trial of `version` with these scores, numbers or reasons, on one dimension."""
    project = version.judge.project
    setup = make_setup(project, str(version), evaluator="ice")
    score(setup, values, dimension)
    SeenArticle.objects.bulk_create(
        SeenArticle(setup=setup, article_id=pk, role=CHOSE_THE_PROMPT)
        for pk in articles_of(project, LabelPart.POOL, LabelPart.TUNING)
    )
    trial = Trial.objects.create(version=version, setup=setup, run=setup.runs.get())
    project.bump_revision()
    return trial


def open_with(trial, values, user):
    """Open the sealed part for a tried version and store these scores on it."""
    opening = SealedOpening.objects.create(
        version=trial.version, opened_by=user, opened_at=timezone.now(), run=trial.run
    )
    score(trial.setup, values, "coherence")
    return opening


def next_version(version, user, seed, note=""):
    return add_version(version, user, {**version.params, "seed": seed}, note)
