"""A learning curve whose models have scored, beside two evaluators and raters; a project to train in."""

import numpy as np
import pytest

from annotation import protocol
from annotation.models import Article, Project
from metaeval.learning_curves.following import curve_of
from scoring.models import CurveModel, LearningCurve, SeenArticle, Setup, Training
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.learning_curves.curve_projects import (
    finish_without_models,
    make_curve_project,
    use_curve_trainer,
)
from tests.metaeval.rated_projects import make_setup, make_summaries, rate_all, score

N_ARTICLES, N_SYSTEMS = 40, 3
TESTED = 30
"""Articles of the test part, the first ones."""
NOISE = {0.1: 5.0, 0.5: 1.0, 1.0: 0.2}
"""Share of the articles -> how far its models are from people."""


@pytest.fixture
def project(db) -> Project:
    """Return a project rated by two people, with a good, a poor and a partly scored evaluator."""
    made = make_project(protocol.SUMMEVAL)
    summaries = make_summaries(
        made, [f"a{number:02}" for number in range(N_ARTICLES)], [f"s{number}" for number in range(N_SYSTEMS)]
    )
    rng = np.random.default_rng(5)
    quality = rng.normal(size=len(summaries))
    for rater in (make_rater(made), make_rater(made)):
        answers = np.clip(np.round(3 + quality + 0.5 * rng.normal(size=len(quality))), 1, 5).astype(int)
        rate_all(
            (summary, rater, {"coherence": str(answer)})
            for summary, answer in zip(summaries, answers, strict=True)
        )
    for label, noise, upto in (("Good", 0.3, None), ("Poor", 8.0, None), ("Partial", 0.3, 30)):
        values = quality + noise * rng.normal(size=len(quality))
        score(make_setup(made, label), dict(zip(summaries[:upto], values.tolist()[:upto], strict=True)))
    return made


@pytest.fixture
def curve(project) -> LearningCurve:
    """Return a learning curve with two models of each of three shares, all done."""
    articles = list(Article.objects.filter(project=project).order_by("external_id"))
    made = LearningCurve.objects.create(
        project=project,
        name="Growing",
        method="seahorse",
        params={"model": "tiny"},
        test_articles=[each.text_digest for each in articles[:TESTED]],
    )
    found = project.summaries.order_by("article__external_id", "system__name")
    tested = list(found[: TESTED * N_SYSTEMS])
    people = dict(project.summaries.values_list("pk", "ratings__answers__value"))
    rng, scores = np.random.default_rng(6), {}
    for share, noise in NOISE.items():
        for seed in (0, 1):
            training = Training.objects.create(
                project=project, name=f"growing-{share:g}-{seed}", method="seahorse"
            )
            model = CurveModel.objects.create(
                curve=made, training=training, share=share, seed=seed, examples=round(200 * share) + seed
            )
            scores[model] = {each: float(people[each.pk]) + noise * rng.normal() for each in tested}
    finish_without_models(made, scores)
    SeenArticle.objects.create(setup=Setup.objects.get(label="Good"), article=articles[-1], role="example")
    project.bump_revision()
    return made


@pytest.fixture
def followed(project, curve):
    return curve_of(project, curve.pk)


@pytest.fixture
def researcher(client, project):
    client.force_login(make_member(project, "researcher"))
    return client


@pytest.fixture
def counted(monkeypatch, settings, tmp_path, db) -> Project:
    """Return a rated project whose trainer only counts."""
    use_curve_trainer(monkeypatch, settings, tmp_path)
    return make_curve_project()


@pytest.fixture
def starter(counted):
    """Return a researcher who may start trainings in `counted`."""
    return make_member(counted, "researcher")
