"""The report of an import or a dry run."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from textwrap import shorten

from annotation import protocol
from annotation.imports.reading.importer import TableHead
from annotation.imports.reading.records import Problem

MOST_COLUMNS_SHOWN = 100
ROWS_SHOWN = 3
CELL_SHOWN = 200  # characters


@dataclass
class Tally:
    """The numbers of a file's rows of one kind."""

    new: int = 0
    present: int = 0
    """Already stored with the same content."""
    filled: int = 0
    """Already stored, and completed, for example with an article's text."""


@dataclass
class Report:
    """A summary of what an import stored, or a dry run would store.

    `counts` has articles, systems, summaries, references, raters, ratings, answers, gold and scores, if the
    file has any. `languages` counts its articles. `refused` says why nothing was stored; it is empty if
    something was.
    """

    dry_run: bool = False
    counts: dict[str, Tally] = field(default_factory=dict)
    languages: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    proposed: protocol.Questionnaire | None = None
    """The questionnaire that the file needs instead of the project's."""
    problems: Sequence[Problem] = ()
    """The first MOST_PROBLEMS problems."""
    not_listed: int = 0
    """The number of problems beyond those."""
    rejected: int = 0
    """The number of rows with problems."""
    has_valid_rows: bool = False
    """True if at least one row of the file can be imported. Unknown if reading stopped."""
    stopped: bool = False
    """True if the file was not read to its end, so that skipping invalid rows is no cure."""
    too_many_problems: bool = False
    """True if reading stopped because of too many problems."""
    refused: str = ""
    table: TableHead | None = None
    """The head of a table whose columns the option `map` may name."""
    lacks_columns: bool = False
    """True if the table lacks columns under its mapping."""

    @property
    def has_news(self) -> bool:
        """Return whether the file has anything new."""
        return any(tally.new or tally.filled for tally in self.counts.values())

    @property
    def has_new_ratings(self) -> bool:
        return "ratings" in self.counts and self.counts["ratings"].new > 0

    def count(self, what: str) -> Tally:
        return self.counts.setdefault(what, Tally())

    def tally(self, what: str, *, new: bool) -> None:
        tally = self.count(what)
        tally.new += new
        tally.present += not new

    def as_json(self) -> dict[str, object]:
        """Return everything but `problems`, with a short head of the table."""
        return {
            "dry_run": self.dry_run,
            "counts": {what: asdict(tally) for what, tally in self.counts.items()},
            "languages": dict(sorted(self.languages.items())),
            "notes": self.notes,
            "questionnaire": self.proposed
            and {
                "title": self.proposed.title,
                "questions": [
                    {"key": each.key, "scale": each.scale.kind.value, "answers": each.scale.expected}
                    for each in self.proposed.questions
                ],
            },
            "not_listed": self.not_listed,
            "rejected": self.rejected,
            "has_valid_rows": self.has_valid_rows,
            "stopped": self.stopped,
            "too_many_problems": self.too_many_problems,
            "refused": self.refused,
            "lacks_columns": self.lacks_columns,
            "table": self.table
            and {
                "columns": list(self.table.columns[:MOST_COLUMNS_SHOWN]),
                "rows": [
                    [shorten(cell, CELL_SHOWN, placeholder=" ...") for cell in row[:MOST_COLUMNS_SHOWN]]
                    for row in self.table.rows[:ROWS_SHOWN]
                ],
                "proposed": list(self.table.proposed),
            },
        }
