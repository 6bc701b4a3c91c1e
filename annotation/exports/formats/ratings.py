"""Ratings in long form: one row for each revision of each answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotation.declared.settings import setting
from annotation.exports.exporter import CSV_FILE, JSON_LINES_FILE, Exporter
from annotation.exports.files import csv_chunks, jsonl_chunks, utc
from annotation.exports.filters import RatingFilters, articles_option
from annotation.exports.rated import ExportedRating, exported_ratings
from annotation.exports.rating_columns import RATING_COLUMNS, TEXT_COLUMNS
from annotation.models import Project

CSV, JSONL = "csv", "jsonl"


class RatingsExporter(Exporter):
    name = "ratings"
    title = "Ratings (CSV, JSONL)"
    description = (
        "One row per rater, summary, question and revision, with comments and seconds per stage. Importing "
        "it restores the ratings."
    )

    @dataclass(frozen=True)
    class Options(RatingFilters):
        file_type: str = setting(
            CSV,
            label="File type",
            help="CSV for spreadsheets, JSONL for programs.",
            choices={CSV: "CSV", JSONL: "JSONL"},
        )
        articles: bool = articles_option()

    options: Options

    def __init__(self, project: Project, options: Options) -> None:
        super().__init__(project, options)
        self.ending = options.file_type
        self.content_type = CSV_FILE if options.file_type == CSV else JSON_LINES_FILE
        self._columns = (*RATING_COLUMNS, *(TEXT_COLUMNS if options.articles else TEXT_COLUMNS[:1]))

    def written(self) -> Iterator[bytes]:
        ratings = exported_ratings(self.project, self.options, articles=self.options.articles)
        rows = (row for rating in ratings for row in rating_rows(rating))
        n = len(self._columns)
        if self.options.file_type == CSV:
            return csv_chunks(self._columns, (map(_cell, row[:n]) for row in rows))
        return jsonl_chunks(dict(zip(self._columns, row[:n], strict=True)) for row in rows)


def rating_rows(rating: ExportedRating) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one rating, in the order of RATING_COLUMNS and TEXT_COLUMNS."""
    times = {each["stage"]: each for each in rating.stage_times}
    rated_at, started_at = utc(rating.rated_at), utc(rating.started_at)
    for given in rating.revisions:
        time = times.get(given.stage)
        opened, submitted = (time["opened_at"], time["submitted_at"]) if time else (None, None)
        yield (
            rating.article_id,
            rating.system,
            rating.rater,
            given.question,
            given.value,
            given.comment,
            given.revision,
            given.is_current,
            given.after_reveal,
            utc(given.answered_at),
            rated_at,
            started_at,
            given.stage,
            opened,
            submitted,
            _seconds(opened, submitted),
            rating.is_imported,
            rating.group,
            rating.rater_status,
            rating.language,
            rating.dataset,
            rating.split,
            rating.title,
            rating.is_reference,
            rating.summary,
            rating.article,
        )


def _seconds(opened: str | None, submitted: str | None) -> float | None:
    if opened is None or submitted is None:
        return None
    passed = datetime.fromisoformat(submitted) - datetime.fromisoformat(opened)
    return round(passed.total_seconds(), 1)


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value
