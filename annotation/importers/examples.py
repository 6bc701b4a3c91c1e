"""Touchstone's own exchange format: one summary a line, with its article, references and labels."""

from collections.abc import Iterator

from annotation.importers.articles import read_article, read_references
from annotation.importers.fields import Fields
from annotation.importers.importer import Importer
from annotation.importers.json_rows import json_lines
from annotation.importers.labels import read_labels
from annotation.importers.options import (
    CREATE_QUESTIONNAIRE,
    LANGUAGE,
    RATER,
    REFERENCE_SYSTEMS,
    Option,
)
from annotation.importers.records import Entry, Rejected, Row, SummaryRecord, is_reference

NOT_STORED = (
    "article_sentences",
    "summary_sentences",
    "reference_sentences",
    "questions",
    "answers",
)


class Examples(Importer):
    name = "examples"
    title = "Examples (JSONL)"
    description = (
        "One summary a line: article_id, system and summary, and any of article, language, dataset, split, "
        "title, references and labels. Labels become ratings by one imported rater."
    )
    options = (
        Option(
            name="no_labels",
            label="Leave out the labels",
            help="Take articles and summaries only, to be rated anew.",
            kind="flag",
            default=False,
        ),
        RATER,
        REFERENCE_SYSTEMS,
        LANGUAGE,
        CREATE_QUESTIONNAIRE,
    )
    proposes = "interval"

    def entries(self) -> Iterator[Entry | Rejected]:
        unused: set[str] = set()
        for row in json_lines(self.file):
            if isinstance(row, Rejected):
                yield row
                continue
            unused.update(name for name in NOT_STORED if name in row.values)
            yield self._entry(row)
        self.notes = [f"These fields are not kept: {', '.join(sorted(unused))}."] if unused else []

    def _entry(self, row: Row) -> Entry | Rejected:
        fields = Fields(row)
        article_id = fields.name("article_id", needed=True)
        system = fields.name("system", needed=True)
        article = read_article(fields, article_id)
        references = read_references(fields, article_id)
        people = is_reference(system) or system in self.set["reference_systems"]
        summary = SummaryRecord(article_id, system, fields.text("summary", needed=True), people)
        labels = {} if self.set["no_labels"] else fields.members("labels")
        ratings = read_labels(
            fields,
            article_id,
            system,
            self.set["rater"],
            {dimension: (f"labels.{dimension}", value) for dimension, value in labels.items()},
        )
        return fields.rejected() or Entry(
            row.file, row.line, row.values, article, (summary, *references), ratings
        )
