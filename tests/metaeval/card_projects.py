"""A small project whose evaluators behave in a known way, for tests of evaluator cards."""

import numpy as np

from annotation import protocol
from annotation.models import Answer, Project, Question, Rating, Summary
from tests.factories import make_project, make_rater
from tests.metaeval.rated_projects import RATED_AT, make_setup, make_summaries, score

SYSTEMS = ("a", "b", "c", "d")
ARTICLES = 24
RATERS = 3


def make_card_project() -> Project:
    """Create a project with 24 articles by four systems, three raters of coherence and three evaluators.

    'Judge' follows people on their scale, mostly one point higher. 'Longest' scores the summary's length,
    which is unrelated to people's answers. 'Silent' has no scores on coherence.
    """
    project = make_project(protocol.SUMMEVAL)
    rng = np.random.default_rng(1)
    summaries = make_summaries(project, [f"article-{number}" for number in range(ARTICLES)], SYSTEMS)
    quality = rng.integers(1, 5, len(summaries))
    lengths = rng.integers(20, 200, len(summaries))
    for summary, length in zip(summaries, lengths, strict=True):
        summary.text = "x" * int(length)
    Summary.objects.bulk_update(summaries, ["text"])
    for _ in range(RATERS):
        _rate(project, summaries, quality + rng.integers(0, 2, len(summaries)))
    milder = np.minimum(quality + 1 + rng.integers(0, 2, len(summaries)), 5)
    for label, values, dimension in (
        ("Judge", milder, "coherence"),
        ("Longest", lengths, "general"),
        ("Silent", milder, "fluency"),
    ):
        given = dict(zip(summaries, values.astype(float).tolist(), strict=True))
        score(make_setup(project, label), given, dimension)
    return project


def _rate(project, summaries, answers):
    rater = make_rater(project)
    question = Question.objects.get(questionnaire=project.questionnaire, key="coherence")
    ratings = Rating.objects.bulk_create(
        Rating(summary=summary, rater=rater, created_at=RATED_AT, completed_at=RATED_AT)
        for summary in summaries
    )
    Answer.objects.bulk_create(
        Answer(rating=rating, question=question, value=str(answer), created_at=RATED_AT)
        for rating, answer in zip(ratings, answers.tolist(), strict=True)
    )
    project.bump_revision()
