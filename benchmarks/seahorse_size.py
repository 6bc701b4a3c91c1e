"""Large projects, made up, and put straight into the tables.

SEAHORSE's size: 96,645 summaries by 9 systems of 18,000 articles in 6 languages; 105,000 ratings of the six
questions by 60 raters, nearly all summaries with one and 8,920 with two or three; and scores of 10 evaluators
on every summary. The numbers have the published data's design, not its values. Or fewer summaries, each rated
three times but for a hundredth, which nobody has rated.
"""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np

from annotation.database.bulk_insert import insert_rows, refresh_statistics, stored_moment
from annotation.models import (
    Answer,
    Article,
    Project,
    Qualification,
    Question,
    Rater,
    Rating,
    Summary,
    System,
)
from annotation.projects.settings import create_project
from annotation.protocol import SEAHORSE
from scoring.models import Run, Score, Setup

SUMMARIES, ARTICLES, SYSTEMS = 96_645, 18_000, 9
RATINGS, RATED_AGAIN = 105_000, 8_920
LANGUAGES = ("de", "en", "es", "ru", "tr", "vi")
RATERS, EVALUATORS = 60, 10
BEGAN = datetime(2026, 1, 5, 9, tzinfo=UTC)


class Size(NamedTuple):
    summaries: int
    articles: int
    ratings: int
    rated_again: int
    """Summaries with a second rating."""
    rated_thrice: int
    """Those of them with a third."""


def size(share: float = 1.0) -> Size:
    """Return SEAHORSE's counts, all shrunk by the same factor for a trial."""
    counts = (SUMMARIES, ARTICLES, RATINGS, RATED_AGAIN)
    summaries, articles, ratings, again = (max(SYSTEMS * 2, int(n * share)) for n in counts)
    return Size(summaries, articles, ratings, again, max(1, again // 11))


def thrice_rated(summaries: int) -> Size:
    """Return the counts of a project in which nearly every summary has three ratings."""
    rated = summaries - summaries // 100
    return Size(summaries, summaries // 5, 3 * rated, rated, rated)


def make_project(n: Size) -> Project:
    """Create the project, the same each time."""
    chance = np.random.default_rng(20230217)
    project = create_project("SEAHORSE's size", SEAHORSE, slug="big")
    summary_ids, languages = _make_summaries(project, n, chance)
    quality = chance.normal(size=len(summary_ids))
    _make_ratings(project, n, summary_ids, languages, quality, chance)
    _make_scores(project, summary_ids, quality, chance)
    project.bump_revision()
    refresh_statistics([Article, Summary, Rater, Rating, Answer, Score])
    return project


def _make_summaries(project: Project, n: Size, chance: np.random.Generator) -> tuple[list[int], np.ndarray]:
    insert_rows(
        Article,
        ("project", "external_id", "language", "dataset", "text"),
        (
            (project.pk, f"article-{number}", LANGUAGES[number % 6], "made up", "A text of no matter.")
            for number in range(n.articles)
        ),
    )
    System.objects.bulk_create(System(project=project, name=f"system {number}") for number in range(SYSTEMS))
    articles = list(Article.objects.filter(project=project).order_by("pk").values_list("pk", flat=True))
    systems = list(System.objects.filter(project=project).order_by("pk").values_list("pk", flat=True))
    # Every article by its first systems, and as many more as there are summaries left, in a mixed order.
    pairs = chance.permutation(n.articles * SYSTEMS)[: n.summaries]
    insert_rows(
        Summary,
        ("project", "article", "system", "text", "ratings_wanted", "open_places", "shuffle_key"),
        (
            (project.pk, articles[pair // SYSTEMS], systems[pair % SYSTEMS], "A summary.", 1, 0, place)
            for place, pair in enumerate(pairs.tolist())
        ),
    )
    ids = list(Summary.objects.filter(project=project).order_by("pk").values_list("pk", flat=True))
    return ids, pairs // SYSTEMS % 6


def _make_ratings(
    project: Project,
    n: Size,
    summary_ids: list[int],
    languages: np.ndarray,
    quality: np.ndarray,
    chance: np.random.Generator,
) -> None:
    Rater.objects.bulk_create(
        Rater(
            project=project,
            pseudonym=f"rater-{number}",
            languages=[LANGUAGES[number % 6]],
            status="qualified",
        )
        for number in range(RATERS)
    )
    raters = list(Rater.objects.filter(project=project).order_by("pk").values_list("pk", flat=True))
    Qualification.objects.bulk_create(
        Qualification(rater_id=rater, language=LANGUAGES[number % 6], since=BEGAN)
        for number, rater in enumerate(raters)
    )
    once = n.ratings - n.rated_again - n.rated_thrice
    again = chance.permutation(once)[: n.rated_again]
    rated = np.concatenate([np.arange(once), again, again[: n.rated_thrice]])
    turn = np.repeat([0, 1, 2], [once, n.rated_again, n.rated_thrice])
    own = (rated * 7 + turn) % (RATERS // 6) * 6 + languages[rated]
    moments = [stored_moment(BEGAN + timedelta(seconds=37 * place)) for place in range(len(rated))]
    insert_rows(
        Rating,
        ("summary", "rater", "created_at", "completed_at"),
        (
            (summary_ids[place], raters[rater], moment, moment)
            for place, rater, moment in zip(rated.tolist(), own.tolist(), moments, strict=True)
        ),
    )
    ids = list(Rating.objects.filter(summary__project=project).order_by("pk").values_list("pk", flat=True))
    questions = list(Question.objects.filter(questionnaire=project.questionnaire_id).order_by("position"))
    unclear = chance.random(len(rated)) < 0.05
    noise = chance.normal(size=(len(questions), len(rated)))
    unsure = chance.random((len(questions), len(rated))) < 0.02
    good = quality[rated] + noise > -0.6
    insert_rows(
        Answer,
        ("rating", "question", "value", "created_at"),
        (
            (
                ids[place],
                question.pk,
                _answer(number, unclear[place], unsure[number, place], good[number, place]),
                moment,
            )
            for place, moment in enumerate(moments)
            for number, question in enumerate(questions)
            if number == 0 or not unclear[place]
        ),
    )


def _answer(number: int, is_unclear: bool, is_unsure: bool, is_good: bool) -> str:
    if number == 0:
        return "no" if is_unclear else "yes"
    return "unsure" if is_unsure else "yes" if is_good else "no"


def _make_scores(
    project: Project, summary_ids: list[int], quality: np.ndarray, chance: np.random.Generator
) -> None:
    for number in range(EVALUATORS):
        setup = Setup.objects.create(
            project=project,
            evaluator="imported",
            label=f"Evaluator {number}",
            signature=f"imported|name:Evaluator {number}",
            fingerprint=f"evaluator-{number}",
        )
        run = Run.objects.create(setup=setup, status=Run.Status.DONE, total=len(summary_ids))
        values = quality + chance.normal(scale=number + 1, size=len(summary_ids))
        insert_rows(
            Score,
            ("setup", "run", "summary", "dimension", "value"),
            (
                (setup.pk, run.pk, summary, "general", round(value, 6))
                for summary, value in zip(summary_ids, values.tolist(), strict=True)
            ),
        )
