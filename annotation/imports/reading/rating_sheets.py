"""Ratings collected from rows with one answer each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from annotation.imports.reading.fields import Fields
from annotation.imports.reading.records import (
    AnswerRecord,
    Entry,
    Problem,
    RatingDetails,
    RatingRecord,
    Rejected,
    StageTime,
    shown,
)

STATUSES = ("training", "qualified", "suspended", "removed")
REPEATED = {
    "refuse": "report as invalid",
    "first": "count the first",
    "last": "count the last",
    "separate": "store as separate raters",
}
"""Ways to treat several answers by one rater to one question on one summary, in words."""
DETAILS = frozenset({"revision", "started_at", "stage_opened_at", "rater_status"})
"""Fields that Touchstone's own exports have beside those of other files."""


SheetKey = tuple[str, str, str, int]
"""Article, system, rater and reading."""


def reading_name(rater: str, reading: int) -> str:
    """Return the name of a rater's nth reading, from 1. The first has the rater's own name."""
    return rater if reading == 1 else f"{rater} (reading {reading})"


@dataclass(slots=True)
class AnswerCounts:
    """The numbers of rows without an answer, and of rows that answer a question again."""

    missing: int = 0
    repeated: int = 0
    left_out: int = 0
    """Rows with another answer than the one that counts."""
    further: int = 0
    """Rows of further readings."""

    def notes(self, missing: Sequence[str], repeated: str) -> list[str]:
        """Return remarks for people; `repeated` is one of REPEATED."""
        words = ", ".join(["empty", *missing])
        notes = []
        if self.missing:
            notes.append(f"{self.missing:,} answers are missing ({words}) and were skipped.")
        if self.repeated:
            notes.append(f"{self.repeated:,} rows repeat an answer and count once.")
        if self.left_out:
            notes.append(
                f"{_rows(self.left_out)} left out: the rater gave another answer, and the {repeated} counts."
            )
        if self.further:
            notes.append(
                f"{_rows(self.further)} answered a question again. A further reading has a rater of its own, "
                f"such as {reading_name('anna', 2)!r}."
            )
        return notes


@dataclass(slots=True)
class RatingSheet:
    """One rater's answers on one summary so far, each by question and revision."""

    line: int
    group: str | None
    rated_at: datetime | None
    details: RatingDetails | None = None
    answers: dict[tuple[str, int], AnswerRecord] = field(default_factory=dict)
    """The first answer of each revision."""
    others: dict[tuple[str, int], dict[tuple[str, str], AnswerRecord]] = field(default_factory=dict)
    """Answers that differ from the first, by value and comment."""
    readings: dict[tuple[str, int], int] = field(default_factory=dict)
    """Numbers of answers to each revision with more than one, if every reading has a sheet."""

    def next_reading(self, question: str, revision: int) -> int:
        """Return the number of the reading, from 1, that the next answer to the question belongs to."""
        place = question, revision
        return self.readings.get(place, 1) + 1 if place in self.answers else 1

    def add(
        self,
        question: str,
        answer: AnswerRecord,
        counts: AnswerCounts,
        repeated: str = "refuse",
        rated_at: datetime | None = None,
    ) -> None:
        """Add an answer given at `rated_at`; `repeated` (see REPEATED) decides between different ones."""
        place = question, answer.revision
        first = self.answers.setdefault(place, answer)
        if first is answer:
            return
        others = self.others.get(place, {})
        said = answer.value, answer.comment
        if said == (first.value, first.comment) or said in others:
            counts.repeated += 1
        elif repeated == "first":
            counts.left_out += 1
        elif repeated == "last":
            counts.left_out += 1
            self.answers[place] = answer
            self.rated_at = rated_at or self.rated_at
        else:
            self.others.setdefault(place, others)[said] = answer

    def entries(self, file: str, article_id: str, system: str, rater: str) -> Iterator[Entry | Rejected]:
        """Yield the rating. Reject all rows that answer one question differently."""
        names = {"article_id": article_id, "system": system, "rater": rater}
        current: dict[str, AnswerRecord] = {}
        earlier: list[tuple[str, AnswerRecord]] = []
        for place, first in self.answers.items():
            question, _ = place
            if place in self.others:
                yield from self._rejected(file, names, question, first, list(self.others[place].values()))
                continue
            latest = current.setdefault(question, first)
            if latest is not first:
                older, current[question] = sorted((latest, first), key=lambda answer: answer.revision)
                earlier.append((question, older))
        for question in [each for each, answer in current.items() if not answer.is_current]:
            earlier.append((question, current.pop(question)))  # the re-opened rating ended before it
        if current:
            if self.details is not None:
                self.details.earlier = earlier
            rating = RatingRecord(
                article_id, system, rater, current, self.group, self.rated_at, details=self.details
            )
            values = {question: answer.value for question, answer in current.items()}
            yield Entry(file, self.line, names | values, ratings=(rating,))

    def reject_reading(
        self, file: str, key: SheetKey, other: "RatingSheet", field: str
    ) -> Iterator[Rejected]:
        """Reject all rows of a further reading, because the file has a rater of its name in `other`."""
        article_id, system, rater, reading = key
        expected = (
            f"a rater whose reading {reading} can be called {shown(reading_name(rater, reading))}; line "
            f"{other.line} has another rater of that name"
        )
        names = {"article_id": article_id, "system": system, "rater": rater}
        for (question, _), answer in self.answers.items():
            problem = Problem(file, answer.line, field, shown(rater), expected)
            row = names | {"question": question, "value": answer.value, "comment": answer.comment}
            yield Rejected(file, answer.line, row, (problem,))

    def _rejected(
        self,
        file: str,
        names: dict[str, str],
        question: str,
        first: AnswerRecord,
        others: Sequence[AnswerRecord],
    ) -> Iterator[Rejected]:
        for answer in (first, *others):
            other = first if answer is not first else others[0]
            expected = f"one answer to {question} by {names['rater']}; line {other.line} has {_words(other)}"
            problem = Problem(file, answer.line, answer.field, _words(answer), expected)
            row = names | {"question": question, "value": answer.value, "comment": answer.comment}
            yield Rejected(file, answer.line, row, (problem,))


def read_details(fields: Fields) -> RatingDetails | None:
    """Return the rating's details, without its stages, if the row has any."""
    if DETAILS.isdisjoint(fields.row.values):
        return None
    return RatingDetails(fields.one_of("rater_status", STATUSES), fields.moment("started_at"))


def read_stage(fields: Fields, details: RatingDetails) -> None:
    """Add the times of the row's stage to `details`, if the row has any."""
    stage = fields.ordinal("stage")
    opened, submitted = fields.moment("stage_opened_at"), fields.moment("stage_submitted_at")
    if stage and opened and submitted:
        details.stage_times.setdefault(stage, StageTime(opened, submitted))


def _words(answer: AnswerRecord) -> str:
    value = shown(answer.value)
    return f"{value} ({shown(answer.comment)})" if answer.comment else value


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"
