"""Projects with ratings and scores stored directly: small ones and published data."""

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from django.db import connection

from annotation import protocol
from annotation.models import Answer, Article, Project, Question, Rater, Rating, Summary, System
from annotation.projects.settings import store_questionnaire
from scoring.models import Run, Score, SeenArticle, Setup
from tests.factories import make_project

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
RATED_AT = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
UNIT_LABELS = protocol.Questionnaire(
    key="unit-labels",
    title="Four dimensions from 0 to 1",
    stage_titles=("All",),
    questions=tuple(
        protocol.Question(
            key, key, key.capitalize(), "?", 1, protocol.Scale(protocol.ScaleKind.INTERVAL, low=0, high=1)
        )
        for key in DIMENSIONS
    ),
)
# The order of the systems within each article of data_sms.json.
ICE_SYSTEMS = [
    "M11",
    "M13",
    "M1",
    "M14",
    "M15",
    "M12",
    "M5",
    "M17",
    "M20",
    "M23",
    "M2",
    "M0",
    "M22",
    "M8",
    "M10",
    "M9",
]


def rate(summary: Summary, rater: Rater, **answers: str) -> Rating:
    """Store a finished rating that counts."""
    rating = Rating.objects.create(summary=summary, rater=rater, created_at=RATED_AT, completed_at=RATED_AT)
    questions = {q.key: q for q in Question.objects.filter(questionnaire=rater.project.questionnaire)}
    Answer.objects.bulk_create(
        Answer(rating=rating, question=questions[key], value=value, created_at=RATED_AT)
        for key, value in answers.items()
    )
    rater.project.bump_revision()
    return rating


def make_setup(project: Project, label: str, **overrides: object) -> Setup:
    fields: dict[str, object] = {"evaluator": "length", "signature": f"{label}|v:1", "fingerprint": label}
    return Setup.objects.create(project=project, label=label, **{**fields, **overrides})


def score(setup: Setup, values: Mapping[Summary, float | str], dimension: str = "general") -> None:
    """Store one setup's scores: numbers, or the reasons for missing ones."""
    run = Run.objects.create(setup=setup, status=Run.Status.DONE)
    Score.objects.bulk_create(
        Score(setup=setup, summary=summary, dimension=dimension, run=run, reason=value)
        if isinstance(value, str)
        else Score(setup=setup, summary=summary, dimension=dimension, run=run, value=value)
        for summary, value in values.items()
    )
    setup.project.bump_revision()


def make_summaries(project: Project, articles: Sequence[str], systems: Sequence[str]) -> list[Summary]:
    """Create a summary of each article (by external id) by each system, in that order."""
    made_articles = Article.objects.bulk_create(
        Article(project=project, external_id=article, language="en", text=f"The text of {article}.")
        for article in articles
    )
    made_systems = System.objects.bulk_create(System(project=project, name=name) for name in systems)
    return Summary.objects.bulk_create(
        Summary(project=project, article=article, system=system, text="s", ratings_wanted=1, open_places=0)
        for article in made_articles
        for system in made_systems
    )


def load_ice(shared: Path) -> Project:
    """Load ICE's published scores and labels (Jain et al. 2023): 96 articles, 16 systems, 3 evaluators."""
    articles = json.loads((shared / "data/ice/data_sms.json").read_text())
    store_questionnaire(UNIT_LABELS)
    project = make_project(UNIT_LABELS)
    summaries = make_summaries(project, list(articles), ICE_SYSTEMS)
    published = [row["scores"] for article in articles.values() for row in article["sys_summs"].values()]
    rater = Rater.objects.create(project=project, pseudonym="imported-labels", status="qualified")
    rate_all(
        [
            (summary, rater, {key: str(row[f"human_score_{key}"]) for key in DIMENSIONS})
            for summary, row in zip(summaries, published, strict=True)
        ]
    )
    for label, prefix in (
        ("ICE uniform", "ice_uniform"),
        ("ICE stratified", "ice_stratified"),
        ("UniEval", "unieval"),
    ):
        setup = make_setup(project, label)
        for key in DIMENSIONS:
            score(
                setup, {s: row[f"{prefix}_{key}"] for s, row in zip(summaries, published, strict=True)}, key
            )
    return project


def load_summeval(shared: Path, dimensions: Sequence[str] = DIMENSIONS) -> Project:
    """Load the rated SummEval with scores of ROUGE and length, and ICE's of 96 articles."""
    project = load_summeval_ratings(shared, dimensions)
    _score_summeval(shared, project, dimensions)
    return project


def load_summeval_ratings(shared: Path, dimensions: Sequence[str] = DIMENSIONS) -> Project:
    """Load SummEval (Fabbri et al. 2021): 100 articles, 12 systems, 3 experts, 5 crowd workers."""
    path = shared / "data/summeval/model_annotations.aligned.paired.12systems.jsonl.gz"
    with gzip.open(path, "rt") as file:
        rows = [json.loads(line) for line in file]
    project = make_project(protocol.SUMMEVAL)
    articles = list(dict.fromkeys(row["id"] for row in rows))
    systems = list(dict.fromkeys(row["model_id"] for row in rows))
    made = make_summaries(project, articles, systems)
    by_name = {(s.article.external_id, s.system.name): s for s in made}
    groups = {"expert": ("expert_annotations", 3), "crowd": ("turker_annotations", 5)}
    raters = {
        (group, place): Rater.objects.create(
            project=project, pseudonym=f"{group}-{place + 1}", group=group, status="qualified"
        )
        for group, (_, times) in groups.items()
        for place in range(times)
    }
    rate_all(
        [
            (
                by_name[row["id"], row["model_id"]],
                raters[group, place],
                {key: str(given[key]) for key in dimensions},
            )
            for row in rows
            for group, (field, _) in groups.items()
            for place, given in enumerate(row[field])
        ]
    )
    return project


def _score_summeval(shared: Path, project: Project, dimensions: Sequence[str]) -> None:
    summaries = Summary.objects.filter(project=project).select_related("article", "system")
    by_name = {(s.article.external_id, s.system.name): s for s in summaries}
    golden = json.loads((shared / "golden/summeval.json").read_text())
    for label, key in (
        ("ROUGE-1", "rouge1"),
        ("ROUGE-2", "rouge2"),
        ("ROUGE-L", "rougeLsum"),
        ("Length", "length"),
    ):
        values = {
            by_name[article, system]: float(value)
            for article, row in zip(golden["docs"], golden["scores"][key], strict=True)
            for system, value in zip(golden["systems"], row, strict=True)
            if (article, system) in by_name
        }
        score(make_setup(project, label), values)
    published = json.loads((shared / "data/ice/data_sms.json").read_text())
    for label, prefix in (
        ("ICE uniform", "ice_uniform"),
        ("ICE stratified", "ice_stratified"),
        ("UniEval", "unieval"),
    ):
        setup = make_setup(project, label)
        for key in dimensions:
            values = {
                by_name[article, system]: row["scores"][f"{prefix}_{key}"]
                for article, entry in published.items()
                for system, row in zip(ICE_SYSTEMS, entry["sys_summs"].values(), strict=True)
                if (article, system) in by_name
            }
            score(setup, values, key)
        if prefix.startswith("ice"):
            pool = Article.objects.filter(project=project).exclude(external_id__in=published)
            SeenArticle.objects.bulk_create(
                SeenArticle(setup=setup, article=article, role="in-context example") for article in pool
            )


def rate_all(given: Iterable[tuple[Summary, Rater, Mapping[str, str]]]) -> None:
    """Store many ratings of one project in few statements, as `rate` does."""
    given = list(given)
    ratings = Rating.objects.bulk_create(
        Rating(summary=summary, rater=rater, created_at=RATED_AT, completed_at=RATED_AT)
        for summary, rater, _ in given
    )
    project = given[0][1].project
    questions = {q.key: q for q in Question.objects.filter(questionnaire=project.questionnaire)}
    Answer.objects.bulk_create(
        Answer(rating=rating, question=questions[key], value=value, created_at=RATED_AT)
        for rating, (_, _, answers) in zip(ratings, given, strict=True)
        for key, value in answers.items()
    )
    project.bump_revision()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # otherwise PostgreSQL plans for empty tables
