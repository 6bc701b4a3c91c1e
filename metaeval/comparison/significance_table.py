"""Significant differences between evaluators on one dimension, as a table of all pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.comparison.comparison import ComparisonTable
from metaeval.comparison.uncertainty import PairFigure, Uncertainty
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.significance.compare_pairs import TESTS


@dataclass(frozen=True)
class SignificanceTable:
    """Evaluators from best to worst, each compared with every other."""

    dimension: str
    names: Sequence[str]
    rows: Sequence[tuple[str, str, Sequence[PairFigure | None]]]
    """Name, letters and cells; None for an evaluator and itself."""
    unit: str
    """The pairs' units: summaries, articles or systems."""
    definition: str
    margin: float = 0.0
    """The loss that still counts as good; 0 without such tests."""
    warning: str = ""
    """A sentence if the test finds too much or too little at the level; else empty."""

    def as_json(self) -> list[dict[str, object]]:
        """Return each ordered pair as a row of a file."""
        return [
            {
                "dimension": self.dimension,
                "evaluator": name,
                **replace(cell, within_margin=None).as_json(),
                **(cell.within_margin.as_json() if cell.within_margin else {}),
                "other": other,
                "unit": self.unit,
                "definition": self.definition,
                **({"method_warning": self.warning} if self.warning else {}),
            }
            for name, _, cells in self.rows
            for other, cell in zip(self.names, cells, strict=True)
            if cell is not None
        ]


def significance_table(
    table: ComparisonTable,
    uncertain: Sequence[Uncertainty],
    question: str,
    names: Mapping[str, str] | None = None,
) -> SignificanceTable | None:
    """Return the pairs of evaluators on one question (its key); None without a test.

    `names` maps keys of evaluators to names that replace their labels.
    """
    place = [column.labels.key for column in table.columns].index(question)
    column, found = table.columns[place], uncertain[place]
    if not found.pairs:
        return None
    merits = np.array([figure.merit for figure in table.column_figures[place]])
    called = [(names or {}).get(each.key, each.label) for each in column.evaluators]
    keys = [each.key for each in column.evaluators]
    order = np.argsort(-np.nan_to_num(merits, nan=-np.inf), kind="stable").tolist()
    return SignificanceTable(
        dimension=column.labels.title,
        names=[called[at] for at in order],
        rows=[
            (
                called[row],
                found.clusters.get(keys[row], ""),
                [None if row == other else found.pairs[keys[row]][keys[other]] for other in order],
            )
            for row in order
        ],
        unit=LEVELS[table.method.level].units,
        definition=found.definition,
        margin=table.method.margin,
        warning=TESTS[table.method.test].warning(table.method.level),
    )
