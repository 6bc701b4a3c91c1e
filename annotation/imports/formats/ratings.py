"""Ratings in long form: CSV, TSV or JSONL with one row for each rater, summary and question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from annotation.declared.settings import SettingsRefused, setting
from annotation.imports.reading.articles import joined_articles, named_articles, read_article
from annotation.imports.reading.fields import LONGEST_COMMENT, Fields
from annotation.imports.reading.importer import ARTICLES, Importer
from annotation.imports.reading.json_rows import json_lines
from annotation.imports.reading.mapping import read_mapping
from annotation.imports.reading.options import (
    create_questionnaire_option,
    language_option,
    reference_systems_option,
)
from annotation.imports.reading.records import (
    AnswerRecord,
    Entry,
    Problem,
    RatingRecord,
    Rejected,
    Row,
    SummaryRecord,
    is_reference,
    shown,
)
from annotation.imports.reading.tables import Quoting, delimiter_of, header_line, table_rows

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


class RatingsImporter(Importer):
    name = "ratings"
    title = "Ratings (CSV, TSV, JSONL)"
    description = (
        f"One row per rater, summary and question: {', '.join(NEEDED)}, and optionally "
        f"{', '.join(OPTIONAL)}. Repeated answers count once; different answers by one rater to one question "
        "on one summary are an error."
    )

    @dataclass(frozen=True)
    class Options:
        map: tuple[str, ...] = setting(
            (),
            label="Columns",
            help="field=column renames a column, field==value sets a field for all rows.",
            one_per_line=True,
        )
        missing: tuple[str, ...] = setting(
            ("NULL",),
            label="Missing answers",
            help="Values that mean that a question was not answered.",
        )
        reference_systems: tuple[str, ...] = reference_systems_option()
        language: str = language_option()
        create_questionnaire: bool = create_questionnaire_option()

    options: Options
    companion = ARTICLES
    proposes = "inferred"

    def prepare(self) -> None:
        try:
            self._mapped = read_mapping(self.options.map, (*NEEDED, *OPTIONAL))
        except ValueError as error:
            raise SettingsRefused({"map": str(error)}) from None

    def entries(self) -> Iterator[Entry | Rejected]:
        """Yield the article and summary of each row, then the ratings, collected from all rows."""
        self.notes = []
        if self.companion_file is not None:
            wanted = named_articles(self._own_entries({}, _Counts()))
            yield from joined_articles(self.companion_file, wanted, self.notes)
        sheets: dict[tuple[str, str, str], _Sheet] = {}
        counts = _Counts()
        yield from self._own_entries(sheets, counts)
        self.notes += counts.notes(self.options.missing)
        for key, sheet in sheets.items():
            yield from sheet.entries(self.file.name, *key)

    def _own_entries(
        self, sheets: "dict[tuple[str, str, str], _Sheet]", counts: "_Counts"
    ) -> Iterator[Entry | Rejected]:
        for row in self._rows():
            yield row if isinstance(row, Rejected) else self._entry(row, sheets, counts)

    def _rows(self) -> Iterator[Row | Rejected]:
        """Yield the rows with our field names."""
        header = header_line(self.file)
        if header.lstrip().startswith(("{", "[")):
            rows = json_lines(self.file)
        else:
            delimiter = delimiter_of(header)
            columns = [self._mapped.theirs(ours) for ours in NEEDED if ours not in self._mapped.constants]
            columns += [theirs for ours, theirs in self._mapped.columns.items() if ours != theirs]
            rows = table_rows(self.file, delimiter, Quoting.CSV, list(dict.fromkeys(columns)))
        for row in rows:
            yield row if isinstance(row, Rejected) else replace(row, values=self._mapped.of(row.values))

    def _entry(
        self, row: Row, sheets: "dict[tuple[str, str, str], _Sheet]", counts: "_Counts"
    ) -> Entry | Rejected:
        fields = Fields(row)
        article_id = fields.name("article_id", needed=True)
        system = fields.name("system", needed=True)
        rater = fields.name("rater", needed=True)
        question = fields.name("question", needed=True)
        group = fields.name("group")
        value = fields.value("value", row.values.get("value"))
        if "value" not in row.values:
            fields.problem("value", None, "an answer")
        article = read_article(fields, article_id)
        text = fields.text("summary") if row.values.get("summary") is not None else None
        people = is_reference(system) or system in self.options.reference_systems
        comment = fields.text("comment").strip()
        if len(comment) > LONGEST_COMMENT:
            fields.problem("comment", comment, f"at most {LONGEST_COMMENT} characters, not {len(comment)}")
        rated_at = _moment(fields)
        if value in ("", *self.options.missing):
            counts.missing += not fields.problems
        elif not fields.problems:
            sheet = sheets.setdefault((article_id, system, rater), _Sheet(row.line, group, rated_at))
            answer = AnswerRecord(value, comment, row.line, self._mapped.theirs("value"))
            sheet.add(question, answer, counts)
        summary = SummaryRecord(article_id, system, text, people)
        rejected = fields.rejected()
        if rejected is not None:
            named = [replace(each, field=self._mapped.theirs(each.field)) for each in rejected.problems]
            return replace(rejected, problems=named)
        return Entry(row.file, row.line, row.values, article, (summary,))


@dataclass(slots=True)
class _Counts:
    missing: int = 0
    repeated: int = 0

    def notes(self, missing: Sequence[str]) -> list[str]:
        words = ", ".join(["empty", *missing])
        notes = []
        if self.missing:
            notes.append(f"{self.missing:,} answers are missing ({words}) and were skipped.")
        if self.repeated:
            notes.append(f"{self.repeated:,} rows repeat an answer and count once.")
        return notes


@dataclass(slots=True)
class _Sheet:
    """One rater's answers on one summary so far."""

    line: int
    group: str
    rated_at: datetime | None
    answers: dict[str, AnswerRecord] = field(default_factory=dict)
    """The first answer to each question."""
    others: dict[str, dict[tuple[str, str], AnswerRecord]] = field(default_factory=dict)
    """Answers that differ from the first, by value and comment."""

    def add(self, question: str, answer: AnswerRecord, counts: _Counts) -> None:
        first = self.answers.setdefault(question, answer)
        if first is answer:
            return
        others = self.others.get(question, {})
        said = answer.value, answer.comment
        if said == (first.value, first.comment) or said in others:
            counts.repeated += 1
        else:
            self.others.setdefault(question, others)[said] = answer

    def entries(self, file: str, article_id: str, system: str, rater: str) -> Iterator[Entry | Rejected]:
        """Yield the rating. Reject all rows that answer one question differently."""
        names = {"article_id": article_id, "system": system, "rater": rater}
        agreed = {}
        for question, first in self.answers.items():
            if question not in self.others:
                agreed[question] = first
                continue
            others = list(self.others[question].values())
            for answer in (first, *others):
                other = first if answer is not first else others[0]
                expected = f"one answer to {question} by {rater}; line {other.line} has {_words(other)}"
                problem = Problem(file, answer.line, answer.field, _words(answer), expected)
                row = names | {"question": question, "value": answer.value, "comment": answer.comment}
                yield Rejected(file, answer.line, row, (problem,))
        if agreed:
            rating = RatingRecord(article_id, system, rater, agreed, self.group, rated_at=self.rated_at)
            values = {question: answer.value for question, answer in agreed.items()}
            yield Entry(file, self.line, names | values, ratings=(rating,))


def _words(answer: AnswerRecord) -> str:
    value = shown(answer.value)
    return f"{value} ({shown(answer.comment)})" if answer.comment else value


def _moment(fields: Fields) -> datetime | None:
    """Return `rated_at`, ISO 8601, in UTC if it has no time zone."""
    found = fields.text("rated_at").strip()
    if not found:
        return None
    try:
        moment = datetime.fromisoformat(found)
    except ValueError:
        fields.problem("rated_at", found, "a date and time such as 2024-05-17T09:30:00Z")
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
