"""Touchstone's own exchange format: one summary a line, with its article, references and labels."""

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.declared.settings import setting
from annotation.imports.reading.articles import read_article, read_references
from annotation.imports.reading.fields import Fields
from annotation.imports.reading.importer import Importer
from annotation.imports.reading.json_rows import json_lines
from annotation.imports.reading.labels import read_labels
from annotation.imports.reading.options import (
    create_questionnaire_option,
    language_option,
    rater_option,
    reference_systems_option,
)
from annotation.imports.reading.records import Entry, Rejected, Row, SummaryRecord, is_reference

NOT_STORED = (
    "article_sentences",
    "summary_sentences",
    "reference_sentences",
    "questions",
    "answers",
)


class ExamplesImporter(Importer):
    name = "examples"
    title = "Examples (JSONL)"
    description = (
        "One summary per line: article_id, system and summary, and optionally article, language, dataset, "
        "split, title, references and labels. Labels become ratings by one imported rater."
    )

    @dataclass(frozen=True)
    class Options:
        no_labels: bool = setting(False, label="Skip labels", help="Import only articles and summaries.")
        rater: str = rater_option()
        reference_systems: tuple[str, ...] = reference_systems_option()
        language: str = language_option()
        create_questionnaire: bool = create_questionnaire_option()

    options: Options
    json_fields = ("article_id", "system", "summary")
    proposes = "interval"

    def entries(self) -> Iterator[Entry | Rejected]:
        unused: set[str] = set()
        for row in json_lines(self.file):
            if isinstance(row, Rejected):
                yield row
                continue
            unused.update(name for name in NOT_STORED if name in row.values)
            yield self._entry(row)
        self.notes = [f"These fields are not stored: {', '.join(sorted(unused))}."] if unused else []

    def _entry(self, row: Row) -> Entry | Rejected:
        fields = Fields(row)
        article_id = fields.name("article_id", needed=True)
        system = fields.name("system", needed=True)
        article = read_article(fields, article_id)
        references = read_references(fields, article_id)
        people = (
            is_reference(system) or system in self.options.reference_systems or fields.flag("is_reference")
        )
        summary = SummaryRecord(article_id, system, fields.text("summary", needed=True), people)
        labels = {} if self.options.no_labels else fields.members("labels")
        ratings = read_labels(
            fields,
            article_id,
            system,
            self.options.rater,
            {dimension: (f"labels.{dimension}", value) for dimension, value in labels.items()},
        )
        return fields.entry(article, summaries=(summary, *references), ratings=ratings)
