"""Which member wins how often in 80% subsamples, as the paper on ICE tells its members apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.method import Method
from metaeval.stats.arrays import Floats
from metaeval.stats.result import or_none
from metaeval.stats.significance.compared import compared
from metaeval.stats.significance.subsamples import win_shares
from metaeval.uncertainty import Column
from scoring.families.following import MemberRun

DEFINITION = (
    "Share of {resamples} draws (seed {seed}) without replacement of 80% of the summaries if pooled, else of"
    " 80% of the articles, in which the member of the row agrees better with people than that of the column;"
    " a draw in which both are equal is won by neither. The paper on ICE (Jain et al. 2023, appendix E) calls"
    " a member better that wins in more than 95% of the draws. That is a weak claim: such draws spread only"
    " half as widely as a bootstrap's. The tests above say who is told apart."
)


@dataclass(frozen=True)
class Wins:
    """Members in the order of the family."""

    dimension: str
    names: Sequence[str]
    shares: Floats
    """(members, members) of the row over the column; nan on the diagonal and where undefined."""
    definition: str

    @property
    def rows(self) -> list[tuple[str, list[float | None]]]:
        """Name of the member, and its shares; None where there is none."""
        return [
            (name, [or_none(share) for share in shares])
            for name, shares in zip(self.names, self.shares.tolist(), strict=True)
        ]

    def as_json(self) -> list[dict[str, object]]:
        """Each ordered pair as a row of a file."""
        return [
            {
                "dimension": self.dimension,
                "member": name,
                "other": other,
                "wins": share,
                "definition": self.definition,
            }
            for name, shares in self.rows
            for other, share in zip(self.names, shares, strict=True)
            if other != name
        ]


def wins(column: Column, members: Mapping[str, MemberRun], method: Method) -> Wins:
    """Of the members that score the column's question. With many summaries this takes seconds."""
    by_key = {evaluator.key: place for place, evaluator in enumerate(column.evaluators)}
    there = {key: member.label for key, member in members.items() if key in by_key}
    places = [by_key[key] for key in there]
    data = compared(
        method.level,
        method.coefficient,
        column.human,
        column.scores[places],
        column.articles,
        column.systems,
        yes_no=column.labels.is_yes_no,
        resamples=method.resamples,
        seed=method.seed,
        orientation=np.array([1 if column.evaluators[at].higher_is_better else -1 for at in places]),
        bootstrap=None,
    )
    definition = DEFINITION.format(resamples=f"{method.resamples:,}", seed=method.seed)
    return Wins(column.labels.title, list(there.values()), win_shares(data), definition)
