"""The share of 80% subsamples that each member wins, as in appendix E of Jain et al. (2023)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.comparison.uncertainty import Column
from metaeval.experiments.following import MemberRun
from metaeval.stats.arrays import Floats
from metaeval.stats.method import Method
from metaeval.stats.result import or_none
from metaeval.stats.significance.compared import compared
from metaeval.stats.significance.subsamples import win_shares

DEFINITION = (
    "Share of {resamples} draws (seed {seed}) without replacement of 80% of the summaries if pooled, else of"
    " 80% of the articles, in which the member of the row agrees better with people than that of the column."
    " Neither wins a tie. Jain et al. (2023, appendix E) call a member better if it wins in more than 95% of"
    " the draws. That is a weak criterion, because such draws vary half as much as a bootstrap's. Use the"
    " significance tests for claims."
)


@dataclass(frozen=True)
class Wins:
    """Members in the order of the experiment."""

    dimension: str
    names: Sequence[str]
    shares: Floats
    """(members, members) of the row over the column; nan on the diagonal and where undefined."""
    definition: str

    @property
    def rows(self) -> list[tuple[str, list[float | None]]]:
        """The name and the shares of each member; None if undefined."""
        return [
            (name, [or_none(share) for share in shares])
            for name, shares in zip(self.names, self.shares.tolist(), strict=True)
        ]

    def as_json(self) -> list[dict[str, object]]:
        """Return each ordered pair as a row of a file."""
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
    """Return the wins of members that score the question. With many summaries this takes seconds."""
    by_key = {evaluator.key: place for place, evaluator in enumerate(column.evaluators)}
    there = {key: member.label for key, member in members.items() if key in by_key}
    places = [by_key[key] for key in there]
    data = compared(
        method.level,
        method.coefficient,
        column.rows.with_scores(column.rows.scores[places]),
        method.resampling,
        orientation=np.array([1 if column.evaluators[at].higher_is_better else -1 for at in places]),
        constant=method.constant,
    )
    definition = DEFINITION.format(resamples=f"{method.resamples:,}", seed=method.seed)
    return Wins(column.labels.title, list(there.values()), win_shares(data), definition)
