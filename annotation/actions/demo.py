"""The demo project: our own texts in six languages, so that every page has something to show."""

import csv
import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.actions.places import recount_places, shuffle_key, wanted_ratings
from annotation.actions.projects import create_project
from annotation.models import (
    Answer,
    Article,
    GoldAnswer,
    GoldRating,
    Membership,
    Project,
    Question,
    Rater,
    Rating,
    Summary,
    System,
)
from annotation.protocol import SEAHORSE

FOLDER = Path(__file__).resolve().parent.parent / "demo"
SLUG = "demo"
LANGUAGES = ["de", "en", "es", "ru", "tr", "vi"]
DAYS_OF_WORK = 10  # the demo ratings are spread over the days before the first start


@dataclass(frozen=True)
class Login:
    username: str
    password: str
    part: str


def load_demo_project() -> list[Login]:
    """Load the demo project and make its logins with random passwords.

    Returns the logins, whose passwords are stored nowhere; none if the project is there already.
    """
    with transaction.atomic():
        if Project.objects.filter(slug=SLUG).exists():
            return []
        project = create_project("Demo: six languages", SEAHORSE, slug=SLUG)
        project.description = (
            "Invented articles and demo systems of clearly different quality. Yours to play with."
        )
        project.extra_share, project.extra_redundancy = 0.3, 3
        project.daily_goal, project.gold_round_size, project.gold_retry_size = 20, 6, 4
        project.gold_threshold = 0.7
        project.save()
        _load_articles(project)
        _load_gold(project)
        _load_ratings(project)
        recount_places(Summary.objects.filter(project=project).values_list("pk", flat=True))
        project.bump_revision()
        return _make_logins(project)


def _lines(name: str) -> Iterator[dict]:
    with (FOLDER / name).open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _load_articles(project: Project) -> None:
    for row in _lines("articles.jsonl"):
        article = _article(project, row["id"], row)
        texts = {"reference": row["reference"], **row["summaries"]}
        for system, text in texts.items():
            _summary(article, system, text, wanted_ratings(project, article.external_id, system))


def _load_gold(project: Project) -> None:
    questions = _questions(project)
    for row in _lines("gold.jsonl"):
        summary = _summary(_article(project, row["article_id"], row), row["system"], row["summary"], 0)
        gold = GoldRating.objects.create(summary=summary)
        GoldAnswer.objects.bulk_create(
            GoldAnswer(
                gold=gold, question=questions[key], value=answer["value"], explanation=answer["explanation"]
            )
            for key, answer in row["answers"].items()
        )


def _load_ratings(project: Project) -> None:
    questions = _questions(project)
    summaries = {
        (summary.article.external_id, summary.system.name): summary
        for summary in Summary.objects.filter(project=project).select_related("article", "system")
    }
    with (FOLDER / "ratings.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    keys = list(dict.fromkeys((row["article_id"], row["system"], row["rater"]) for row in rows))
    languages: dict[str, set[str]] = {}
    for article_id, system, rater in keys:
        languages.setdefault(rater, set()).add(summaries[article_id, system].article.language)
    raters = {
        name: Rater.objects.create(
            project=project,
            pseudonym=name,
            group="demo",
            languages=sorted(spoken),
            status=Rater.Status.QUALIFIED,
        )
        for name, spoken in languages.items()
    }
    ratings = {}
    for position, (article_id, system, rater) in enumerate(keys):
        finished = _moment(position, len(keys))
        ratings[article_id, system, rater] = Rating.objects.create(
            summary=summaries[article_id, system],
            rater=raters[rater],
            created_at=finished - timedelta(seconds=90),
            completed_at=finished,
        )
    Answer.objects.bulk_create(
        Answer(
            rating=ratings[row["article_id"], row["system"], row["rater"]],
            question=questions[row["question"]],
            value=row["value"],
            comment=row["comment"],
            created_at=ratings[row["article_id"], row["system"], row["rater"]].created_at,
        )
        for row in rows
    )


def _moment(position: int, total: int) -> datetime:
    return timezone.now() - timedelta(days=DAYS_OF_WORK) * (1 - position / total)


def _article(project: Project, external_id: str, row: dict) -> Article:
    return Article.objects.get_or_create(
        project=project,
        external_id=external_id,
        defaults={
            "language": row["language"],
            "title": row["title"],
            "text": row["article"],
            "dataset": "touchstone-demo",
            # One article a language may teach evaluators; the others judge them.
            "split": "train" if external_id.endswith("-01") else "test",
        },
    )[0]


def _summary(article: Article, system: str, text: str, wanted: int) -> Summary:
    project = article.project
    writer, _ = System.objects.get_or_create(
        project=project, name=system, defaults={"is_reference": system == "reference"}
    )
    return Summary.objects.create(
        project=project,
        article=article,
        system=writer,
        text=text,
        ratings_wanted=wanted,
        open_places=wanted,
        shuffle_key=shuffle_key(project, article.external_id, system),
    )


def _questions(project: Project) -> dict[str, Question]:
    return {question.key: question for question in project.questionnaire.questions.all()}


def _make_logins(project: Project) -> list[Login]:
    logins = []

    def make(username: str, part: str) -> User:
        there = get_user_model().objects.filter(username=username).first()
        if there is not None:
            logins.append(Login(username, "(unchanged)", part))
            return there
        password = secrets.token_urlsafe(9)
        logins.append(Login(username, password, part))
        return get_user_model().objects.create_user(username=username, password=password)

    for role in (Membership.Role.MANAGER, Membership.Role.RESEARCHER):
        Membership.objects.create(project=project, user=make(f"demo-{role}", role), role=role)
    qualified = make("demo-annotator", "annotator, qualified in all six languages")
    newcomer = make("demo-newcomer", "annotator who has yet to pass the gold round, in English")
    Rater.objects.create(
        project=project,
        user=qualified,
        pseudonym="rater-1",
        languages=LANGUAGES,
        status=Rater.Status.QUALIFIED,
    )
    Rater.objects.create(project=project, user=newcomer, pseudonym="rater-2", languages=["en"])
    return logins
