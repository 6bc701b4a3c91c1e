"""The sample project: a campaign halfway, with simulated ratings, so that every results page has content."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.db import transaction
from django.db.models import F, OuterRef, Subquery
from django.utils import timezone

from annotation.demo.load import add_people, import_demo_file, publish_guidelines
from annotation.demo.sample.model import (
    DAYS,
    FOLDER,
    JUDGES,
    SimulatedRating,
    make_summaries,
    read_texts,
    simulate_ratings,
    simulate_scores,
)
from annotation.gold.checks import settle_check
from annotation.models import Assignment, Project, Rating, Summary
from annotation.projects.settings import create_project
from annotation.protocol import SEAHORSE

SLUG = "sample"
LANGUAGE = "en"
DATASET = "sample-town-news"
DESCRIPTION = (
    "Invented town news. All ratings are SIMULATED, and so are simulated-judge-v1 and simulated-judge-v2, by "
    "the model declared in annotation/demo/sample/model.py. Nobody gave them, so no finding can rest on them."
)


def load_sample_project() -> bool:
    """Load the sample project, without scores (see `write_judge_scores`). Return whether it was new."""
    with transaction.atomic():
        if Project.objects.filter(slug=SLUG).exists():
            return False
        project = create_project("Sample: town news (simulated ratings)", SEAHORSE, slug=SLUG)
        project.description = DESCRIPTION
        project.licence = "apache-2.0"
        project.extra_share, project.extra_redundancy = 0.5, 3
        project.daily_goal, project.gold_round_size, project.gold_retry_size = 20, 6, 4
        project.gold_threshold = 0.7
        project.check_rate, project.check_threshold = 0.1, 0.65
        project.check_window, project.check_minimum = 20, 6
        project.save()
        texts = read_texts()
        made = {each.key: each for each in make_summaries(texts)}
        with TemporaryDirectory() as folder:
            examples = Path(folder) / "examples.jsonl"
            articles = {row["id"]: _article(number, row) for number, row in enumerate(texts)}
            # The article's fields come with its first summary.
            _write_lines(
                examples,
                (
                    {"article_id": article, "system": system, "summary": each.text}
                    | articles.pop(article, {})
                    for (article, system), each in made.items()
                ),
            )
            import_demo_file(project, "examples", examples)
            import_demo_file(project, "gold", FOLDER / "gold.jsonl")
            places = Summary.objects.rateable().filter(project=project).order_by("shuffle_key", "pk")
            wanted = places.values_list("article__external_id", "system__name", "ratings_wanted")
            simulated = simulate_ratings(made, [((article, system), n) for article, system, n in wanted])
            ratings = Path(folder) / "ratings.csv"
            _write_ratings(ratings, simulated)
            import_demo_file(project, "ratings", ratings)
        _assign_ratings(project)
        for rater in project.raters.all():
            last = rater.ratings.filter(is_check=True).latest("completed_at")
            assert last.completed_at is not None
            settle_check(rater, last, LANGUAGE, last.completed_at)
        project.bump_revision()
        add_people(project, [LANGUAGE])
        publish_guidelines(project)
        return True


def write_judge_scores(folder: Path) -> dict[str, Path]:
    """Write the scores file of each simulated judge into `folder`. Return judge -> path."""
    made = make_summaries(read_texts())
    files = {judge.name: folder / f"{judge.name}.jsonl" for judge in JUDGES}
    for judge in JUDGES:
        _write_lines(files[judge.name], simulate_scores(judge, made))
    return files


def _article(number: int, row: Mapping[str, Any]) -> dict[str, str]:
    return {
        "article": row["article"],
        "title": row["title"],
        "language": LANGUAGE,
        "dataset": DATASET,
        "split": "train" if number % 4 == 3 else "test",
    }


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _write_ratings(path: Path, simulated: Iterable[SimulatedRating]) -> None:
    """Write the ratings as the export of ratings does, with times in the days before today."""
    today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    rows = [row for rating in simulated for row in _rating_rows(rating, today)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _rating_rows(rating: SimulatedRating, today: datetime) -> Iterator[dict[str, str]]:
    opened = today - timedelta(days=len(DAYS) - rating.day) + timedelta(seconds=rating.opened_s)
    times: dict[int, tuple[datetime, datetime]] = {}
    for stage, seconds in rating.stages:
        times[stage] = opened, opened + timedelta(seconds=seconds)
        _, opened = times[stage]
    for question, value in rating.answers.items():
        stage = SEAHORSE.question(question).stage
        stage_opened, submitted = times[stage]
        yield {
            "article_id": rating.article_id,
            "system": rating.system,
            "rater": rating.rater.name,
            "group": rating.rater.group,
            "question": question,
            "value": value,
            "rated_at": opened.isoformat(),
            "started_at": times[1][1].isoformat(),
            "answered_at": submitted.isoformat(),
            "stage": str(stage),
            "stage_opened_at": stage_opened.isoformat(),
            "stage_submitted_at": submitted.isoformat(),
        }


def _assign_ratings(project: Project) -> None:
    """Give the imported ratings assignments as if they were collected here; those of gold are checks."""
    ratings = Rating.objects.filter(rater__project=project)
    lease = timedelta(minutes=project.lease_minutes)
    gold = set(ratings.filter(summary__gold__isnull=False).values_list("pk", flat=True))
    Assignment.objects.bulk_create(
        Assignment(
            rater_id=rating.rater_id,
            summary_id=rating.summary_id,
            is_check=rating.pk in gold,
            state=Assignment.State.DONE,
            stage=rating.stage_times[-1]["stage"],
            stage_opened_at=datetime.fromisoformat(rating.stage_times[-1]["opened_at"]),
            leased_until=datetime.fromisoformat(rating.stage_times[0]["opened_at"]) + lease,
        )
        for rating in ratings.order_by("completed_at", "pk")
    )
    assignments = Assignment.objects.filter(rater__project=project)
    assignments.update(created_at=F("leased_until") - lease)
    own = assignments.filter(rater=OuterRef("rater"), summary=OuterRef("summary"))
    ratings.update(assignment=Subquery(own.values("pk")), is_check=Subquery(own.values("is_check")))
