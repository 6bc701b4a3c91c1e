"""The figures of an experiment: those of the comparison page, by question and member."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from metaeval.comparison.comparison import ComparisonFigure, ComparisonTable
from metaeval.comparison.uncertainty import Column, Uncertainty
from metaeval.experiments.following import Followed, MemberRun
from metaeval.snapshot.arrays import Labels
from metaeval.stats.result import or_none
from metaeval.stats.spread import Spread, spread

SEEN_BY_A_MEMBER = "articles that a member has seen"


@dataclass(frozen=True)
class MemberFigure:
    member: str
    """The evaluator's name in the experiment."""
    figure: ComparisonFigure
    left_out: Mapping[str, int]
    """Reason -> number left out; articles seen by any member have one reason."""

    def as_json(self) -> dict[str, object]:
        """Return the row of a file, with the member's name first."""
        return {"member": self.member, **self.figure.as_json()}


@dataclass(frozen=True)
class QuestionFigures:
    """The figures of all members on one question, in the order of the experiment."""

    labels: Labels
    figures: Sequence[MemberFigure]

    @cached_property
    def spread(self) -> Spread:
        """The spread over the members, as repetitions."""
        return spread([each.figure.estimate.value for each in self.figures])

    def spread_as_json(self) -> dict[str, object]:
        found = self.spread
        return {
            "dimension": self.labels.dimension,
            "mean": or_none(found.mean),
            "sd": or_none(found.sd),
            "lowest": or_none(found.low),
            "highest": or_none(found.high),
            "repetitions": found.repetitions,
            "reason": found.reason,
        }


def finished_members(followed: Followed, scored: Sequence[str]) -> dict[str, MemberRun]:
    """Return evaluator key -> member, of those with a finished run that are in `scored` (keys)."""
    return {
        str(member.setup.pk): member
        for member in followed.members
        if member.is_done and str(member.setup.pk) in scored
    }


def question_figures(
    table: ComparisonTable, members: Mapping[str, MemberRun], uncertain: Sequence[Uncertainty] | None
) -> list[QuestionFigures]:
    """Return the figures of `members` by question, without questions that no member scores."""
    return [
        QuestionFigures(
            column.labels,
            [
                MemberFigure(member.label, by_key[key], _in_short(by_key[key], column))
                for key, member in members.items()
                if key in by_key
            ],
        )
        for column, by_key in zip(table.columns, table.by_column(uncertain), strict=True)
        if by_key
    ]


def _in_short(figure: ComparisonFigure, column: Column) -> dict[str, int]:
    place = [each.key for each in column.evaluators].index(figure.evaluator.key)
    seen = column.why_seen[place]
    others = {reason: times for reason, times in figure.estimate.left_out.items() if reason not in seen}
    return ({SEEN_BY_A_MEMBER: sum(seen.values())} if seen else {}) | others
