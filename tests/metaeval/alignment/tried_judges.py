"""Judges whose versions were tried, with scores put straight into the tables."""

from django.utils import timezone

from annotation.models import Summary
from scoring.alignment.judges import add_version
from scoring.alignment.parts import Part
from scoring.alignment.trials import CHOSE_THE_PROMPT
from scoring.models import SealedOpening, SeenArticle, Trial
from tests.metaeval.rated_projects import make_setup, score
from tests.scoring.alignment.aligned import articles_of


def summaries_of(project, *parts):
    return list(Summary.objects.filter(article__in=articles_of(project, *parts)).order_by("pk"))


def try_with(version, values, dimension="coherence"):
    """A finished trial of `version` with these scores on one dimension: numbers, or reasons."""
    project = version.judge.project
    setup = make_setup(project, str(version), evaluator="ice")
    score(setup, values, dimension)
    SeenArticle.objects.bulk_create(
        SeenArticle(setup=setup, article_id=pk, role=CHOSE_THE_PROMPT)
        for pk in articles_of(project, Part.POOL, Part.TUNING)
    )
    trial = Trial.objects.create(version=version, setup=setup, run=setup.runs.get())
    project.bump_revision()
    return trial


def open_with(trial, values, user):
    """The sealed part opened for a tried version, with these scores there."""
    opening = SealedOpening.objects.create(
        version=trial.version, opened_by=user, opened_at=timezone.now(), run=trial.run
    )
    score(trial.setup, values, "coherence")
    return opening


def next_version(version, user, seed, note=""):
    return add_version(version, user, {**version.params, "seed": seed}, note)
