"""Ratings in long form: a table or JSONL with one row for each rater, summary and question."""

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.declared.settings import SettingsRefused, setting
from annotation.exports.rating_columns import RATING_COLUMNS
from annotation.imports.reading.articles import joined_articles, named_articles, read_article
from annotation.imports.reading.fields import LONGEST, LONGEST_COMMENT, Fields
from annotation.imports.reading.importer import ARTICLES, Importer
from annotation.imports.reading.json_rows import json_rows
from annotation.imports.reading.mapping import read_mapping
from annotation.imports.reading.options import (
    create_questionnaire_option,
    language_option,
    map_option,
    reference_systems_option,
    sheet_option,
)
from annotation.imports.reading.rating_sheets import (
    REPEATED,
    AnswerCounts,
    RatingSheet,
    SheetKey,
    read_details,
    read_stage,
    reading_name,
)
from annotation.imports.reading.records import (
    AnswerRecord,
    ArticleRecord,
    Entry,
    Rejected,
    Row,
    SummaryRecord,
    is_reference,
    shown,
)
from annotation.imports.reading.tables import is_json, table_rows
from annotation.imports.reading.wrong_rows import limited
from annotation.texts.spreadsheet import original_text

NEEDED = ("article_id", "system", "rater", "question", "value")
OPTIONAL = (
    "summary",
    "article",
    "title",
    "language",
    "dataset",
    "split",
    "group",
    "comment",
    "rated_at",
)
OF_ARTICLE = ("article_id", "article", "title", "language", "dataset", "split")
OF_EXPORTS = (
    "revision",
    "is_current",
    "after_reveal",
    "answered_at",
    "started_at",
    "stage",
    "stage_opened_at",
    "stage_submitted_at",
    "rater_status",
    "is_reference",
)
"""Further optional fields, which Touchstone's own exports have."""


class RatingsImporter(Importer):
    name = "ratings"
    title = "Ratings (CSV, TSV, XLSX, JSONL, JSON)"
    purpose = "Answers of raters, and exports of ratings."
    description = (
        f"One row per rater, summary and question: {', '.join(NEEDED)}, and optionally "
        f"{', '.join(OPTIONAL)}, and all that the export of ratings writes. Repeated answers count once. "
        "Different answers by one rater to one question on one summary are an error, unless you choose what "
        "counts."
    )

    @dataclass(frozen=True)
    class Options:
        map: tuple[str, ...] = map_option()
        missing: tuple[str, ...] = setting(
            ("NULL",),
            label="Missing answers",
            help="Values that mean that a question was not answered.",
        )
        repeated: str = setting(
            "refuse",
            label="Repeated answers",
            help="Answers that count if a rater gave several to one question on one summary.",
            choices=REPEATED,
        )
        reference_systems: tuple[str, ...] = reference_systems_option()
        language: str = language_option()
        sheet: str = sheet_option()
        create_questionnaire: bool = create_questionnaire_option()

    options: Options
    columns = json_fields = NEEDED
    mapped_fields = (*NEEDED, *OPTIONAL)
    companion = ARTICLES
    proposes = "inferred"

    def prepare(self) -> None:
        self._separates = self.options.repeated == "separate"
        self._latest: tuple[tuple[object, ...], ArticleRecord] | None = None
        try:
            self._mapped = read_mapping(self.options.map, (*NEEDED, *OPTIONAL, *OF_EXPORTS))
        except ValueError as error:
            raise SettingsRefused({"map": str(error)}) from None

    def entries(self) -> Iterator[Entry | Rejected]:
        """Yield the article and summary of each row, then the ratings, collected from all rows."""
        self.notes = []
        if self.companion_file is not None:
            wanted = named_articles(self._own_entries({}, AnswerCounts()))
            yield from joined_articles(self.companion_file, wanted, self.notes)
        sheets: dict[SheetKey, RatingSheet] = {}
        counts = AnswerCounts()
        yield from self._own_entries(sheets, counts)
        self.notes += counts.notes(self.options.missing, self.options.repeated)
        raters = {rater: sheet for (_, _, rater, _), sheet in reversed(sheets.items())}
        for key, sheet in sheets.items():
            article_id, system, rater, reading = key
            name = reading_name(rater, reading)
            if reading > 1 and name in raters:
                yield from sheet.reject_reading(
                    self.file.name, key, raters[name], self._mapped.theirs("rater")
                )
            else:
                yield from sheet.entries(self.file.name, article_id, system, name)

    def question_names(self) -> Iterator[str]:
        mapped = read_mapping(
            [pair for pair in self.options.map if pair.partition("=")[0].strip() == "question"], ["question"]
        )
        for row in limited(self._rows(), left_out=True):
            if isinstance(row, Row):
                yield str(mapped.of(row.values).get("question")).strip()

    def _own_entries(
        self, sheets: dict[SheetKey, RatingSheet], counts: AnswerCounts
    ) -> Iterator[Entry | Rejected]:
        for row in self._rows():
            if isinstance(row, Rejected):
                yield row
            else:
                row.values = self._mapped.of(row.values)
                yield self._entry(row, sheets, counts)

    def _rows(self) -> Iterator[Row | Rejected]:
        """Yield the rows with the file's own field names."""
        if is_json(self.file):
            yield from json_rows(self.file)
            return
        is_export = None
        for row in table_rows(self.file, self._mapped.needed(NEEDED)):
            if is_export is None and isinstance(row, Row):
                is_export = row.values.keys() >= set(RATING_COLUMNS)
            if is_export and isinstance(row, Row):
                row.values = {name: original_text(str(cell)) for name, cell in row.values.items()}
            yield row

    def _entry(self, row: Row, sheets: dict[SheetKey, RatingSheet], counts: AnswerCounts) -> Entry | Rejected:
        fields = Fields(row)
        article_id = fields.name("article_id", needed=True)
        system = fields.name("system", needed=True)
        rater = fields.name("rater", needed=True)
        question = fields.name("question", needed=True)
        group = fields.name("group") or None
        value = fields.value("value", row.values.get("value"))
        if "value" not in row.values:
            fields.problem("value", None, "an answer")
        article = self._article(fields, article_id)
        text = fields.text("summary") if row.values.get("summary") is not None else None
        people = (
            is_reference(system) or system in self.options.reference_systems or fields.flag("is_reference")
        )
        comment = fields.text("comment").strip()
        if len(comment) > LONGEST_COMMENT:
            fields.problem("comment", comment, f"at most {LONGEST_COMMENT} characters, not {len(comment)}")
        rated_at = fields.moment("rated_at")
        details = read_details(fields)
        if details is not None and details.rater_status:
            group = group or ""  # an export says so where a rater has none
        if value in ("", *self.options.missing):
            counts.missing += not fields.problems
        elif not fields.problems:
            key = article_id, system, rater
            first = sheets.get((*key, 1))
            if first is None:
                first = sheets[*key, 1] = RatingSheet(row.line, group, rated_at, details)
            answer = AnswerRecord(value, comment, row.line, self._mapped.theirs("value"))
            if first.details is not None:
                answer = answer._replace(
                    revision=fields.ordinal("revision") or 1,
                    is_current="is_current" not in row.values or fields.flag("is_current"),
                    after_reveal=fields.flag("after_reveal"),
                    answered_at=fields.moment("answered_at"),
                )
            reading = first.next_reading(question, answer.revision) if self._separates else 1
            sheet = sheets.get((*key, reading))
            if sheet is None:
                sheet = RatingSheet(row.line, group, rated_at, details)
                _check_name(fields, rater, reading_name(rater, reading))
            if sheet.details is not None:
                read_stage(fields, sheet.details)
            if not fields.problems:
                if reading > 1:
                    sheets[*key, reading] = sheet
                    first.readings[question, answer.revision] = reading
                    counts.further += 1
                sheet.add(question, answer, counts, self.options.repeated, rated_at)
        summary = SummaryRecord(article_id, system, text, people)
        rejected = fields.rejected()
        if rejected is not None:
            return self._mapped.renamed(rejected)
        return Entry(row.file, row.line, row.values, article, (summary,))

    def _article(self, fields: Fields, article_id: str) -> ArticleRecord:
        """Return the row's article. Mostly it is that of the row before, which need not be read again."""
        if not fields.row.storable:  # JSON has values that are equal and differ: 1 and true
            return read_article(fields, article_id)
        given = tuple(map(fields.row.values.get, OF_ARTICLE))
        if self._latest is not None and self._latest[0] == given:
            return self._latest[1]
        article = read_article(fields, article_id)
        if not fields.problems:
            self._latest = given, article
        return article


def _check_name(fields: Fields, rater: str, reading: str) -> None:
    """Note a problem if the name of a further reading is too long for a rater."""
    longest = LONGEST["rater"]
    if len(reading) > longest:
        fields.problem(
            "rater", rater, f"a shorter name, because {shown(reading)} has more than {longest} characters"
        )
