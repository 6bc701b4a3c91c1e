"""The figures of an experiment: those of the Comparison page, by member of the family and by question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from metaeval.comparison import MetaevalFigure, MetaevalTable
from metaeval.judgements import Labels
from metaeval.stats.result import or_none
from metaeval.stats.spread import Spread, spread
from metaeval.uncertainty import Uncertainty
from scoring.families.following import Followed, MemberRun

SEEN_BY_A_MEMBER = "articles that a member has seen"


@dataclass(frozen=True)
class MemberFigure:
    member: str
    """What the evaluator is called in the family."""
    figure: MetaevalFigure
    left_out: Mapping[str, int]
    """Reason -> how many, all articles that some member has seen under one reason."""

    def as_json(self) -> dict[str, object]:
        """The row of the Comparison, with the member's name before it."""
        return {"member": self.member, **self.figure.as_json()}


@dataclass(frozen=True)
class QuestionFigures:
    """What every member that scores one question reaches on it, in the order of the family."""

    labels: Labels
    figures: Sequence[MemberFigure]

    @cached_property
    def spread(self) -> Spread:
        """Over the members, as if chance alone told them apart."""
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


def in_figures(followed: Followed, scored: Sequence[str]) -> dict[str, MemberRun]:
    """Key of the evaluator -> member, of those whose run is done and has scores (`scored`: keys of these)."""
    return {
        str(member.setup.pk): member
        for member in followed.members
        if member.is_done and str(member.setup.pk) in scored
    }


def question_figures(
    table: MetaevalTable, members: Mapping[str, MemberRun], uncertain: Sequence[Uncertainty] | None
) -> list[QuestionFigures]:
    """By question of the table, which compares `members`, without those that nobody scores."""
    seen = table.comparison.seen
    found = [
        (
            column.labels,
            {
                figure.evaluator.key: figure.beside(uncertain[place]) if uncertain else figure
                for figure in each
            },
        )
        for place, (column, each) in enumerate(zip(table.columns, table.column_figures, strict=True))
    ]
    return [
        QuestionFigures(
            labels,
            [
                MemberFigure(member.label, by_key[key], _in_short(by_key[key], seen))
                for key, member in members.items()
                if key in by_key
            ],
        )
        for labels, by_key in found
        if by_key
    ]


def _in_short(figure: MetaevalFigure, seen: Mapping[str, int]) -> dict[str, int]:
    others = {reason: times for reason, times in figure.estimate.left_out.items() if reason not in seen}
    return ({SEEN_BY_A_MEMBER: sum(seen.values())} if seen else {}) | others
