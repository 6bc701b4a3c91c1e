"""Steps of export tests: export a project, and import its files into another."""

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

from annotation.exports.exporter import open_export
from annotation.imports.import_file import import_file
from annotation.imports.reading.importer import open_import
from annotation.models import Answer, Project, Question, Rater, Rating, Summary


def exported(project: Project, name: str, **options: object) -> bytes:
    return b"".join(open_export(project, name, options).chunks())


def json_rows(project: Project, name: str, **options: object) -> list[dict]:
    return [json.loads(line) for line in exported(project, name, **options).decode().split("\n") if line]


def csv_rows(project: Project, name: str, **options: object) -> list[dict]:
    text = exported(project, name, **options).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def imported(project: Project, name: str, content: bytes, folder: Path) -> None:
    """Import the content of a file; a file of no rows changes nothing."""
    path = folder / f"exported.{name}"
    path.write_bytes(content)
    if not content:
        return
    project.refresh_from_db()
    report = import_file(project, open_import(name, path))
    assert not report.refused, (report.refused, list(map(str, report.problems)))


def rate(summary: Summary, rater: Rater, comment: str = "", **answers: str) -> Rating:
    """Store a finished rating, as an import does."""
    at = datetime(2026, 3, 1, 9, tzinfo=UTC)
    rating = Rating.objects.create(summary=summary, rater=rater, created_at=at, completed_at=at)
    for key, value in answers.items():
        question = Question.objects.get(questionnaire=summary.project.questionnaire, key=key)
        Answer.objects.create(rating=rating, question=question, value=value, comment=comment, created_at=at)
    return rating
