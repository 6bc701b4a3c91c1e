"""What an import has made of one entry, and who keeps the scores in it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from annotation.actions.import_states import ArticleState, Sheet, SummaryKey, SummaryState
from annotation.importers.records import (
    Entry,
    GoldRecord,
    Problem,
    RatingRecord,
    ScoreRecord,
    SummaryRecord,
)


class ScoreKeeper(Protocol):
    """Who keeps imported scores; one object for each pass over a file."""

    def look_up(self, found: Sequence[tuple[ScoreRecord, int]]) -> None:
        """Read what is kept already for these records, given with their summaries' ids."""

    def conflict(self, record: ScoreRecord) -> str | None:
        """What the score should be, where another one is kept or was said before."""

    def note(self, record: ScoreRecord) -> bool:
        """Remember a record without conflict; whether it is new."""

    def keep(self, new: Sequence[tuple[ScoreRecord, int]]) -> None:
        """Store these, given with their summaries' ids."""


@dataclass(slots=True)
class Settled:
    """One entry: its problems, or else what of it is new."""

    entry: Entry
    problems: list[Problem] = field(default_factory=list)
    article: ArticleState | None = None
    filled: dict[str, str] = field(default_factory=dict)
    """Fields that `article` lacked."""
    summaries: dict[SummaryKey, tuple[SummaryRecord, SummaryState]] = field(default_factory=dict)
    ratings: list[tuple[RatingRecord, Sheet]] = field(default_factory=list)
    gold: list[tuple[GoldRecord, Sheet]] = field(default_factory=list)
    scores: list[ScoreRecord] = field(default_factory=list)

    def problem(self, place: str, found: str, expected: str, line: int = 0) -> None:
        self.problems.append(Problem(self.entry.file, line or self.entry.line, place, found, expected))
