"""What an import did, or in a dry run would do."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from annotation import protocol
from annotation.importers.records import Problem


class Outcome(StrEnum):
    DONE = "done"
    PARTLY = "partly"
    """Wrong rows were left out."""
    REFUSED = "refused"


@dataclass
class Tally:
    """How many of one kind of thing the file names."""

    new: int = 0
    present: int = 0
    """In the project already, with the same content."""
    filled: int = 0
    """In the project already, and given what it lacked, such as an article's text."""

    def as_json(self) -> dict[str, int]:
        return {"new": self.new, "present": self.present, "filled": self.filled}


@dataclass
class Report:
    """`counts` has articles, systems, summaries, references, raters, ratings, answers, gold and scores as far
    as the file names any; `languages` counts its articles. `refused` says why nothing was (or would be)
    loaded, and is empty where something was."""

    dry_run: bool = False
    counts: dict[str, Tally] = field(default_factory=dict)
    languages: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    proposed: protocol.Questionnaire | None = None
    """The questionnaire that the file needs in place of the project's."""
    problems: Sequence[Problem] = ()
    rejected: int = 0
    """Wrong rows, each with one or more of `problems`."""
    refused: str = ""

    @property
    def outcome(self) -> Outcome:
        if self.refused:
            return Outcome.REFUSED
        return Outcome.PARTLY if self.rejected else Outcome.DONE

    @property
    def has_news(self) -> bool:
        """Whether the file has anything that the project lacks."""
        return any(tally.new or tally.filled for tally in self.counts.values())

    def count(self, what: str) -> Tally:
        return self.counts.setdefault(what, Tally())

    def tally(self, what: str, *, new: bool) -> None:
        tally = self.count(what)
        tally.new += new
        tally.present += not new

    def as_json(self) -> dict[str, object]:
        """Everything but `problems`, for the page."""
        return {
            "dry_run": self.dry_run,
            "outcome": self.outcome.value,
            "counts": {what: tally.as_json() for what, tally in self.counts.items()},
            "languages": dict(sorted(self.languages.items())),
            "notes": self.notes,
            "questionnaire": None if self.proposed is None else proposal_as_json(self.proposed),
            "rejected": self.rejected,
            "refused": self.refused,
        }


def proposal_as_json(questionnaire: protocol.Questionnaire) -> dict[str, object]:
    return {
        "title": questionnaire.title,
        "questions": [
            {
                "key": question.key,
                "scale": question.scale.kind.value,
                "answers": question.scale.expected,
            }
            for question in questionnaire.questions
        ],
    }
