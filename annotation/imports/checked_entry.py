"""A checked entry, and the interface that stores its scores."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from annotation.imports.known_rows import ArticleState, Sheet, SummaryState
from annotation.imports.reading.records import (
    Entry,
    GoldRecord,
    Problem,
    RatingRecord,
    ScoreRecord,
    SummaryKey,
    SummaryRecord,
)


class ScoreKeeper(Protocol):
    """Stores imported scores, one object for each pass over a file."""

    def look_up(self, found: Sequence[tuple[ScoreRecord, int]]) -> None:
        """Read the stored scores of these records, given with their summaries' ids."""

    def conflict(self, record: ScoreRecord) -> str | None:
        """Return the score that was stored or read before, if it differs."""

    def note(self, record: ScoreRecord) -> bool:
        """Note a record without conflict. Return whether it is new."""

    def keep(self, new: Sequence[tuple[ScoreRecord, int]]) -> None:
        """Store these, given with their summaries' ids."""

    def finish(self) -> None:
        """Complete what the file's rows change for scores, after the last one is stored."""


@dataclass(slots=True)
class CheckedEntry:
    """One entry with its problems or its new records."""

    entry: Entry
    problems: list[Problem] = field(default_factory=list)
    article: ArticleState | None = None
    filled: dict[str, str] = field(default_factory=dict)
    """New values of fields that were empty."""
    summaries: dict[SummaryKey, tuple[SummaryRecord, SummaryState]] = field(default_factory=dict)
    ratings: list[tuple[RatingRecord, Sheet]] = field(default_factory=list)
    gold: list[tuple[GoldRecord, Sheet]] = field(default_factory=list)
    scores: list[ScoreRecord] = field(default_factory=list)

    def problem(self, place: str, found: str, expected: str, line: int = 0) -> None:
        self.problems.append(Problem(self.entry.file, line or self.entry.line, place, found, expected))
