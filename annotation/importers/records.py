"""What a file says, as plain values, and what is wrong with it. No database, no Django."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

LONGEST_FOUND = 80  # characters of a wrong value that are shown


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a file: where, what was found and what is expected."""

    file: str
    line: int
    field: str
    found: str
    expected: str

    def __str__(self) -> str:
        field = _printable(self.field)
        return f"{self.file}, line {self.line}, {field}: found {self.found}, expected {self.expected}"

    def as_json(self) -> dict[str, object]:
        return {
            "file": self.file,
            "line": self.line,
            "field": _printable(self.field),
            "found": self.found,
            "expected": self.expected,
        }


def _printable(name: str) -> str:
    """A name from a file, as a message can show it."""
    short = name[:LONGEST_FOUND]
    return short if short.isprintable() else repr(short)[1:-1]


def shown(value: object) -> str:
    """`value` as a message shows it: quoted, and cut where it is long."""
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= LONGEST_FOUND else f"{text[: LONGEST_FOUND - 3]}..."


class FileRefused(Exception):
    """The file cannot be read as what it was said to be, so there are no rows to be taken from it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)

    @classmethod
    def because(cls, file: str, line: int, field: str, found: str, expected: str) -> "FileRefused":
        return cls([Problem(file, line, field, found, expected)])


@dataclass(frozen=True, slots=True)
class ArticleRecord:
    """A source text; an empty field was not given."""

    external_id: str
    language: str = ""
    dataset: str = ""
    split: str = ""
    title: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """A summary. `text` is None where the file only names it, so that the project must have it."""

    article_id: str
    system: str
    text: str | None
    is_reference: bool = False
    to_be_rated: bool = True


class AnswerRecord(NamedTuple):
    """One answer as the file has it. `comment` is a rater's comment, or a gold answer's explanation."""

    value: str
    comment: str
    line: int
    field: str


@dataclass(frozen=True, slots=True)
class RatingRecord:
    """One rater's answers on one summary, by question (its key, or the dimension it asks about).

    `complete` says that the format promises an answer to everything that was to be asked; `columns` says
    where the answer to a question would stand, for the message that it is missing.
    """

    article_id: str
    system: str
    rater: str
    answers: Mapping[str, AnswerRecord]
    group: str = ""
    rated_at: datetime | None = None
    complete: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GoldRecord:
    article_id: str
    system: str
    answers: Mapping[str, AnswerRecord]


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """One number that an evaluator gave elsewhere, or None and the reason.

    Without a system, `article_id` is the summary's id as exports write it, article_id/system.
    """

    article_id: str
    system: str
    evaluator: str
    dimension: str
    value: float | None
    reason: str
    place: str
    """The field it stands in."""


@dataclass(slots=True)
class Entry:
    """What one row (or what several rows on one rating) says; it is taken whole or not at all."""

    file: str
    line: int
    row: object
    article: ArticleRecord | None = None
    summaries: Sequence[SummaryRecord] = ()
    ratings: Sequence[RatingRecord] = ()
    gold: Sequence[GoldRecord] = ()
    scores: Sequence[ScoreRecord] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that could not be read, with all that is wrong with it."""

    file: str
    line: int
    row: object
    problems: Sequence[Problem]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file, before a format has looked at it: its fields by name."""

    file: str
    line: int
    values: Mapping[str, object]
    storable: bool = False
    """Whether every text in it is known to be one that databases can hold."""


REFERENCE = "reference"


def is_reference(system: str) -> bool:
    """Whether this is the name under which formats keep texts written by people: reference, reference-7."""
    name, _, number = system.partition("-")
    return name == REFERENCE and (not number or number.isdigit())


def reference_summaries(article_id: str, texts: Sequence[str]) -> list[SummaryRecord]:
    """References that only evaluators read, as summaries of reference-1, reference-2, ..."""
    return [
        SummaryRecord(article_id, f"{REFERENCE}-{number}", text, is_reference=True, to_be_rated=False)
        for number, text in enumerate(texts, start=1)
    ]
