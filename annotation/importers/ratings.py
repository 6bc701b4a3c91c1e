"""Ratings in long form: CSV, TSV or JSONL with one row for each rater, summary and question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from annotation.importers.articles import joined_articles, named_articles
from annotation.importers.fields import LONGEST_COMMENT, Fields
from annotation.importers.importer import ARTICLES, Importer
from annotation.importers.json_rows import json_lines
from annotation.importers.lines import TextFile
from annotation.importers.mapping import read_mapping
from annotation.importers.options import (
    CREATE_QUESTIONNAIRE,
    LANGUAGE,
    REFERENCE_SYSTEMS,
    Option,
    OptionsRefused,
)
from annotation.importers.records import (
    AnswerRecord,
    ArticleRecord,
    Entry,
    Problem,
    RatingRecord,
    Rejected,
    Row,
    SummaryRecord,
    is_reference,
    shown,
)
from annotation.importers.tables import Quoting, delimiter_of, header_line, table_rows

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


class Ratings(Importer):
    name = "ratings"
    title = "Ratings (CSV, TSV, JSONL)"
    description = (
        f"One row for each rater, summary and question: {', '.join(NEEDED)}, and any of "
        f"{', '.join(OPTIONAL)}. The same answer given twice counts once; two different answers by one rater "
        "to one question on one summary are an error."
    )
    options = (
        Option(
            name="map",
            label="Columns",
            help="ours=theirs where the file calls a column by another name, ours==value where a field is "
            "the same on all rows, for example question==factual.",
            kind="pairs",
            default=[],
        ),
        Option(
            name="missing",
            label="Words for a missing answer",
            help="Values that mean 'not answered', besides an empty one.",
            kind="list",
            default=["NULL"],
        ),
        REFERENCE_SYSTEMS,
        LANGUAGE,
        CREATE_QUESTIONNAIRE,
    )
    companion = ARTICLES
    proposes = "inferred"

    def __init__(
        self,
        file: TextFile,
        companion: TextFile | None,
        options: Mapping[str, Any],
        dimensions: Sequence[str],
    ) -> None:
        super().__init__(file, companion, options, dimensions)
        try:
            self._mapped = read_mapping(options["map"], (*NEEDED, *OPTIONAL))
        except ValueError as error:
            raise OptionsRefused({"map": str(error)}) from None

    def entries(self) -> Iterator[Entry | Rejected]:
        """Each row's article and summary as it comes; after them the ratings, put together from all rows."""
        self.notes = []
        if self.companion_file is not None:
            wanted = named_articles(self._own_entries({}, _Counts()))
            yield from joined_articles(self.companion_file, wanted, self.notes)
        sheets: dict[tuple[str, str, str], _Sheet] = {}
        counts = _Counts()
        yield from self._own_entries(sheets, counts)
        self.notes += counts.notes(self.set["missing"])
        for key, sheet in sheets.items():
            yield from sheet.entries(self.file.name, *key)

    def _own_entries(
        self, sheets: "dict[tuple[str, str, str], _Sheet]", counts: "_Counts"
    ) -> Iterator[Entry | Rejected]:
        for row in self._rows():
            yield row if isinstance(row, Rejected) else self._entry(row, sheets, counts)

    def _rows(self) -> Iterator[Row | Rejected]:
        """The rows under our names."""
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
        article = ArticleRecord(
            article_id,
            fields.language(),
            fields.name("dataset"),
            fields.split(),
            fields.name("title"),
            fields.text("article"),
        )
        text = fields.text("summary") if row.values.get("summary") is not None else None
        people = is_reference(system) or system in self.set["reference_systems"]
        comment = fields.text("comment").strip()
        if len(comment) > LONGEST_COMMENT:
            fields.problem("comment", comment, f"at most {LONGEST_COMMENT} characters, not {len(comment)}")
        rated_at = _moment(fields)
        if value in ("", *self.set["missing"]):
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
            notes.append(f"{self.missing:,} answers are missing ({words}) and left out.")
        if self.repeated:
            notes.append(f"{self.repeated:,} rows repeat an answer and count once.")
        return notes


@dataclass(slots=True)
class _Sheet:
    """One rater's answers on one summary, as far as they have been read."""

    line: int
    group: str
    rated_at: datetime | None
    answers: dict[str, list[AnswerRecord]] = field(default_factory=dict)
    """To each question, those that differ."""

    def add(self, question: str, answer: AnswerRecord, counts: _Counts) -> None:
        given = self.answers.setdefault(question, [])
        if any((each.value, each.comment) == (answer.value, answer.comment) for each in given):
            counts.repeated += 1
        else:
            given.append(answer)

    def entries(self, file: str, article_id: str, system: str, rater: str) -> Iterator[Entry | Rejected]:
        """The rating; rows that answer a question differently are all rejected, for none is truer."""
        names = {"article_id": article_id, "system": system, "rater": rater}
        agreed = {}
        for question, given in self.answers.items():
            if len(given) == 1:
                agreed[question] = given[0]
                continue
            for answer in given:
                other = given[0] if answer is not given[0] else given[1]
                expected = f"one answer to {question} by {rater}; line {other.line} has {_words(other)}"
                problem = Problem(file, answer.line, answer.field, _words(answer), expected)
                row = names | {"question": question, "value": answer.value, "comment": answer.comment}
                yield Rejected(file, answer.line, row, (problem,))
        if agreed:
            rating = RatingRecord(article_id, system, rater, agreed, self.group, rated_at=self.rated_at)
            values = {question: answer.value for question, answer in agreed.items()}
            yield Entry(file, self.line, names | values, ratings=(rating,))


def _words(answer: AnswerRecord) -> str:
    return f"{answer.value!r} ({shown(answer.comment)})" if answer.comment else repr(answer.value)


def _moment(fields: Fields) -> datetime | None:
    """`rated_at` in ISO 8601; without a time zone it is taken as UTC."""
    found = fields.text("rated_at").strip()
    if not found:
        return None
    try:
        moment = datetime.fromisoformat(found)
    except ValueError:
        fields.problem("rated_at", found, "a date and time such as 2024-05-17T09:30:00Z")
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
