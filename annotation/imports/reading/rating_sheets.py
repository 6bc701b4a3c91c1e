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
DETAILS = frozenset({"revision", "started_at", "stage_opened_at", "rater_status"})
"""Fields that Touchstone's own exports have beside those of other files."""


@dataclass(slots=True)
class AnswerCounts:
    """The numbers of rows without an answer, and of rows with one that was read before."""

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

    def add(self, question: str, answer: AnswerRecord, counts: AnswerCounts) -> None:
        place = question, answer.revision
        first = self.answers.setdefault(place, answer)
        if first is answer:
            return
        others = self.others.get(place, {})
        said = answer.value, answer.comment
        if said == (first.value, first.comment) or said in others:
            counts.repeated += 1
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
