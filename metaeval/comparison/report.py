"""Agreement of evaluators with human labels: the figures of the page, its files, the command and the API."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.comparison.comparison import Comparison, ComparisonTable, compare, table_of
from metaeval.comparison.human_ceiling import ceiling, rater_turns
from metaeval.comparison.uncertainty import Column
from metaeval.live.choices import ComparisonChoices
from metaeval.live.strangers import refuse_resamples
from metaeval.snapshot.arrays import SetupScores
from metaeval.snapshot.snapshot import PerSnapshot, Snapshot
from metaeval.stats.arrays import Bools
from metaeval.stats.check_choice import check_choice
from metaeval.stats.method import Method
from metaeval.stats.result import Estimate

KEPT_TABLES = 3
"""Tables kept per snapshot. One of ten evaluators on a hundred thousand summaries takes up to 100 MB."""


def comparison_table(snapshot: Snapshot, choices: ComparisonChoices, method: Method) -> ComparisonTable:
    """Return the table for the chosen summaries, labels and evaluators; `method` replaces the choice of one.

    Raises DomainError for a choice that does not exist, and for too many resamples of published results.
    """
    refuse_resamples(snapshot, method.resamples)
    human = snapshot.human
    for key in choices.questions:
        check_choice("question", key, tuple(ratings.question.key for ratings in human.questions))
    comparison = compare(
        snapshot.summaries,
        snapshot.evaluators,
        language=choices.language,
        dataset=choices.dataset,
        systems=choices.systems,
        only=choices.only,
    )
    labels = [
        each
        for each in snapshot.labels(choices.group, choices.labels)
        if not choices.questions or each.key in choices.questions
    ]
    return table_of(comparison, labels, method)


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
