"""Touchstone's own exchange format: one summary per row, with its article, references and labels.

Tables may also have one row per article, with a column of summaries for each system.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from annotation.declared.settings import SettingsRefused, setting
from annotation.imports.reading.articles import read_article, read_references
from annotation.imports.reading.blank_texts import is_blank
from annotation.imports.reading.fields import LONGEST, Fields
from annotation.imports.reading.importer import Importer
from annotation.imports.reading.json_rows import json_rows
from annotation.imports.reading.labels import read_labels
from annotation.imports.reading.mapping import read_mapping
from annotation.imports.reading.options import (
    create_questionnaire_option,
    language_option,
    map_option,
    rater_option,
    reference_systems_option,
    sheet_option,
)
from annotation.imports.reading.records import (
    Entry,
    Rejected,
    Row,
    SummaryRecord,
    is_reference,
    listed,
    reference_summaries,
)
from annotation.imports.reading.tables import column_names, is_json, table_rows
from annotation.texts.text_digests import article_digest

NEEDED = ("article_id", "system", "summary")
OPTIONAL = ("article", "title", "language", "dataset", "split", "is_reference", "references")
OF_SYSTEM = "summary:"
"""Prefix of the fields that hold the summaries of one system each."""
NOT_STORED = (
    "article_sentences",
    "summary_sentences",
    "reference_sentences",
    "questions",
    "answers",
)


class ExamplesImporter(Importer):
    name = "examples"
    title = "Articles and summaries (XLSX, CSV, TSV, JSONL, JSON)"
    purpose = "Texts to rate, as in your own spreadsheet."
    description = (
        f"One summary per row: {', '.join(NEEDED)}, and optionally {', '.join(OPTIONAL)}, and in JSON "
        "labels, which become ratings by one imported rater. Without article_id the article's text "
        "identifies it. A table may have one row per article and a column of summaries for each system. You "
        "choose its columns after the dry run."
    )

    @dataclass(frozen=True)
    class Options:
        map: tuple[str, ...] = map_option()
        no_labels: bool = setting(False, label="Skip labels", help="Import only articles and summaries.")
        rater: str = rater_option()
        reference_systems: tuple[str, ...] = reference_systems_option()
        language: str = language_option()
        sheet: str = sheet_option()
        create_questionnaire: bool = create_questionnaire_option()

    options: Options
    columns = json_fields = NEEDED
    mapped_fields = (*NEEDED, *OPTIONAL)
    several = "summary"
    may_be_wide = True
    proposes = "interval"

    def prepare(self) -> None:
        try:
            self._mapped = read_mapping(
                self.options.map, (*NEEDED, *OPTIONAL, "labels"), several=self.several
            )
        except ValueError as error:
            raise SettingsRefused({"map": str(error)}) from None
        self._systems = {
            field: field.removeprefix(OF_SYSTEM).strip()
            for field in (*self._mapped.columns, *self._mapped.constants)
            if field.startswith(OF_SYSTEM)
        }
        long = [system for system in self._systems.values() if len(system) > LONGEST["system"]]
        if long:
            raise SettingsRefused(
                {"map": f"found {long[0]!r}, expected at most {LONGEST['system']} characters"}
            )
        if self._systems and any(
            field in self._mapped.constants or self._mapped.theirs(field) != field
            for field in ("system", "summary")
        ):
            raise SettingsRefused(
                {"map": "found system or summary beside summary:NAME, expected one of the two kinds of rows"}
            )
        self._made_ids = 0

    def entries(self) -> Iterator[Entry | Rejected]:
        self._made_ids = 0
        unused: dict[str, None] = {}
        for row in json_rows(self.file) if self._is_json else table_rows(self.file, self._needed):
            if isinstance(row, Rejected):
                yield row
                continue
            unused.update(dict.fromkeys(name for name in NOT_STORED if name in row.values))
            given = row.values
            row.values = self._mapped.of(given)
            yield replace(self._entry(row), row=given)
        self.notes = [f"These fields are not stored: {listed(sorted(unused))}."] if unused else []
        if self._made_ids:
            self.notes.append(
                f"{self._made_ids:,} rows have no article_id. The text of the article identifies it."
            )

    @cached_property
    def _is_json(self) -> bool:
        return is_json(self.file)

    @cached_property
    def _needed(self) -> list[str]:
        """The columns that the table must have. Its articles may be without ids."""
        fields = [] if self._systems else ["system", "summary"]
        names = column_names(self.file)
        has_id = self._mapped.theirs("article_id") in names or self._mapped.theirs("article") not in names
        return self._mapped.needed(["article_id" if has_id else "article", *fields])

    def _entry(self, row: Row) -> Entry | Rejected:
        fields = Fields(row)
        article_id = self._article_id(fields)
        article = read_article(fields, article_id)
        summaries = [*self._summaries(fields, article_id), *self._references(fields, article_id)]
        ratings = []
        if self._is_json and not self.options.no_labels and not self._systems:
            labels = {
                dimension: (f"labels.{dimension}", value)
                for dimension, value in fields.members("labels").items()
            }
            ratings = read_labels(fields, article_id, summaries[0].system, self.options.rater, labels)
        entry = fields.entry(article, summaries=summaries, ratings=ratings)
        return self._mapped.renamed(entry) if isinstance(entry, Rejected) else entry

    def _article_id(self, fields: Fields) -> str:
        text = fields.row.values.get("article")
        if "article_id" in fields.row.values or not isinstance(text, str) or is_blank(text):
            return fields.name("article_id", needed=True)
        self._made_ids += 1
        return article_digest(text)

    def _summaries(self, fields: Fields, article_id: str) -> Iterator[SummaryRecord]:
        for field, system in self._systems.items():
            text = fields.text(field)
            if not is_blank(text):
                yield SummaryRecord(article_id, system, text, self._is_human(system))
        if not self._systems:
            system = fields.name("system", needed=True)
            people = self._is_human(system) or fields.flag("is_reference")
            yield SummaryRecord(article_id, system, fields.text("summary", needed=True), people)

    def _is_human(self, system: str) -> bool:
        return is_reference(system) or system in self.options.reference_systems

    def _references(self, fields: Fields, article_id: str) -> list[SummaryRecord]:
        if self._is_json:
            return read_references(fields, article_id)
        text = fields.text("references")
        return [] if is_blank(text) else reference_summaries(article_id, [text])
