"""The values of the comparison page, without intervals and tests; cached while they are current."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.comparison.comparison import Comparison, ComparisonTable
from metaeval.comparison.human_ceiling import ceiling, rater_turns
from metaeval.comparison.report import comparison_table
from metaeval.comparison.uncertainty import Column
from metaeval.live.choices import ComparisonChoices
from metaeval.snapshot.arrays import SetupScores
from metaeval.snapshot.snapshot import PerSnapshot, Snapshot
from metaeval.stats.arrays import Bools
from metaeval.stats.result import Estimate

KEPT_TABLES = 3
"""Tables kept per snapshot. One of ten evaluators on a hundred thousand summaries takes up to 100 MB."""


@dataclass(frozen=True, eq=False)
class Points:
    """The values of a table, and the counts of what they are based on."""

    table: ComparisonTable
    ceilings: Sequence[Estimate]
    """One rater's agreement with the others on each column; empty without figures."""
    n_labelled: int
    n_articles: int
    n_systems: int

    @property
    def compared(self) -> Sequence[SetupScores]:
        return self.table.comparison.evaluators


def point_values_of(snapshot: Snapshot, choices: ComparisonChoices) -> Points:
    """Return the values for these choices. Raises DomainError for a choice that does not exist."""
    choices = whole_table(choices)
    return _kept.result(snapshot, choices, lambda: _computed(snapshot, choices))


def whole_table(choices: ComparisonChoices) -> ComparisonChoices:
    """Return the choices without the chosen cell."""
    return replace(choices, evaluator="", question="")


_kept: PerSnapshot[ComparisonChoices, Points] = PerSnapshot(KEPT_TABLES)


def _computed(snapshot: Snapshot, choices: ComparisonChoices) -> Points:
    table = comparison_table(snapshot, choices, choices.method(is_live=snapshot.is_live))
    labelled = np.any([_labelled(table.comparison, column) for column in table.columns], axis=0)
    return Points(
        table=table,
        ceilings=_ceilings(snapshot, table, choices) if table.figures() else (),
        n_labelled=int(labelled.sum()),
        n_articles=len(np.unique(snapshot.summaries.articles[labelled])),
        n_systems=len(np.unique(snapshot.summaries.systems[labelled])),
    )


def _labelled(comparison: Comparison, column: Column) -> Bools:
    """Return the labelled summaries that not every evaluator of the column has seen, (summaries,)."""
    return _counted(comparison, column) & ~np.isnan(column.labels.values)


def _counted(comparison: Comparison, column: Column) -> Bools:
    counted = comparison.counted.copy()
    if column.evaluators:
        counted[counted] = ~column.seen.all(axis=0)
    return counted


def _ceilings(snapshot: Snapshot, table: ComparisonTable, choices: ComparisonChoices) -> list[Estimate]:
    human, found = snapshot.human, []
    for column in table.columns:
        labels, counted = column.labels, _counted(table.comparison, column)
        turns = rater_turns(snapshot.summaries, human, human.on(labels.key), labels, counted, choices.group)
        found.append(ceiling(turns, choices.level, choices.coefficient, choices.constant, rule=labels.rule))
    return found
