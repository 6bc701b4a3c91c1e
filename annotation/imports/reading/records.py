"""Records and problems of a file, as plain values. No database, no Django."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import NamedTuple

LONGEST_FOUND = 80  # characters of a wrong value that are shown
MOST_LISTED = 20  # names in one message

SummaryKey = tuple[str, str]
"""External id of the article, name of the system."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something invalid in a file: where, what was found and what was expected."""

    file: str
    line: int
    field: str
    found: str
    expected: str

    def __str__(self) -> str:
        field = _printable(self.field)
        return f"{self.file}, line {self.line}, {field}: found {self.found}, expected {self.expected}"

    def as_json(self) -> dict[str, object]:
        return asdict(self) | {"field": _printable(self.field)}


def _printable(name: str) -> str:
    """Return a name from a file as messages show it."""
    short = name[:LONGEST_FOUND]
    return short if short.isprintable() else repr(short)[1:-1]


def shown(value: object) -> str:
    """Return `value` as messages show it: quoted and shortened."""
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= LONGEST_FOUND else f"{text[: LONGEST_FOUND - 3]}..."


def listed(names: Sequence[str]) -> str:
    """Return the names as messages list them: shortened, the first MOST_LISTED."""
    first = ", ".join(_printable(name) for name in names[:MOST_LISTED])
    more = len(names) - MOST_LISTED
    return f"{first} and {more:,} more" if more > 0 else first


class FileRefused(Exception):
    """The file cannot be read in this format, so none of its rows can be used."""

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
class OfSummary:
    """A record of one summary, named by its article and system."""

    article_id: str
    system: str

    @property
    def key(self) -> SummaryKey:
        return self.article_id, self.system


@dataclass(frozen=True, slots=True)
class SummaryRecord(OfSummary):
    """A summary. `text` is None where the file only names it, so that the project must have it."""

    text: str | None
    is_reference: bool = False
    to_be_rated: bool = True


class AnswerRecord(NamedTuple):
    """One answer as the file has it. `comment` is a rater's comment, or a gold answer's explanation."""

    value: str
    comment: str
    line: int
    field: str
    revision: int = 1
    is_current: bool = True
    after_reveal: bool = False
    answered_at: datetime | None = None


class StageTime(NamedTuple):
    """The times at which a rater was shown a stage and submitted it."""

    opened_at: datetime
    submitted_at: datetime


@dataclass(slots=True)
class RatingDetails:
    """Details of a rating and its rater, beyond current answers, from Touchstone's own exports."""

    rater_status: str
    """The standing of a rater whom the project does not know yet; empty: qualified."""
    started_at: datetime | None
    stage_times: dict[int, StageTime] = field(default_factory=dict)
    earlier: list[tuple[str, AnswerRecord]] = field(default_factory=list)
    """Earlier revisions with their questions."""


@dataclass(frozen=True, slots=True)
class RatingRecord(OfSummary):
    """One rater's answers on one summary, by question (its key, or the dimension it asks about).

    `group` is None where the file does not say which one the rater is in. With `complete` every question must
    have an answer. `columns` maps questions to the fields that messages about missing answers name.
    """

    rater: str
    answers: Mapping[str, AnswerRecord]
    """The latest revision of each answer."""
    group: str | None = None
    rated_at: datetime | None = None
    complete: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    details: RatingDetails | None = None


@dataclass(frozen=True, slots=True)
class GoldRecord(OfSummary):
    answers: Mapping[str, AnswerRecord]
    is_retired: bool = False


@dataclass(frozen=True, slots=True)
class ScoreRecord(OfSummary):
    """One number that an evaluator gave elsewhere, or None and the reason.

    Without a system, `article_id` is the summary's id as exports write it, article_id/system.
    """

    evaluator: str
    dimension: str
    value: float | None
    reason: str
    place: str
    """The field it stands in."""


@dataclass(slots=True)
class Entry:
    """The records of one row, or of several rows with one rating. Stored as a whole or not at all."""

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
    """A row that could not be read, with all its problems."""

    file: str
    line: int
    row: object
    problems: Sequence[Problem]


@dataclass(slots=True)
class Row:
    """One row of a file, its fields by name, before a format reads it."""

    file: str
    line: int
    values: Mapping[str, object]
    storable: bool = False
    """True if databases can hold every text in it."""


REFERENCE = "reference"


def is_reference(system: str) -> bool:
    """Return whether formats give this name to texts written by people: reference, reference-7."""
    name, _, number = system.partition("-")
    return name == REFERENCE and (not number or number.isdigit())


def reference_summaries(article_id: str, texts: Sequence[str]) -> list[SummaryRecord]:
    """Return references as summaries of reference-1, reference-2, ... that nobody rates."""
    return [
        SummaryRecord(article_id, f"{REFERENCE}-{number}", text, is_reference=True, to_be_rated=False)
        for number, text in enumerate(texts, start=1)
    ]
