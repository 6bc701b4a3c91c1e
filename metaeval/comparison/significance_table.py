"""Significant differences between evaluators on one dimension, as a table of all pairs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.comparison.comparison import ComparisonTable
from metaeval.comparison.uncertainty import Uncertainty


@dataclass(frozen=True)
class SignificanceCell:
    """The evaluator of the row compared with that of the column."""

    difference: float
    """The difference of the coefficients on common summaries; above 0 if the row's is better."""
    p_value: float
    """Corrected; nan if there is none."""
    n: int
    """Summaries that both have scored."""
    reason: str
    """Why there is no p-value."""
    is_significant: bool

    @property
    def is_defined(self) -> bool:
        return not math.isnan(self.difference)

    @property
    def has_p_value(self) -> bool:
        return not math.isnan(self.p_value)


@dataclass(frozen=True)
class SignificanceTable:
    """Evaluators from best to worst, each compared with every other."""

    dimension: str
    names: Sequence[str]
    rows: Sequence[tuple[str, str, Sequence[SignificanceCell | None]]]
    """Name, letters and cells; None for an evaluator and itself."""
    definition: str

    def as_json(self) -> list[dict[str, object]]:
        """Return each ordered pair as a row of a file."""
        return [
            {
                "dimension": self.dimension,
                "evaluator": name,
                "other": other,
                "difference": cell.difference if cell.is_defined else None,
                "p_value": cell.p_value if cell.has_p_value else None,
                "significant": cell.is_significant,
                "n": cell.n,
                "reason": cell.reason,
                "definition": self.definition,
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
    if found.tests is None:
        return None
    tests, significant = found.tests, found.significant
    merits = np.array([figure.merit for figure in table.column_figures[place]])
    called = [(names or {}).get(each.key, each.label) for each in column.evaluators]
    order = np.argsort(-np.nan_to_num(merits, nan=-np.inf), kind="stable").tolist()
    return SignificanceTable(
        dimension=column.labels.title,
        names=[called[at] for at in order],
        rows=[
            (
                called[row],
                found.clusters.get(column.evaluators[row].key, ""),
                [
                    None
                    if row == other
                    else SignificanceCell(
                        difference=float(tests.differences[row, other]),
                        p_value=float(found.adjusted[row, other]),
                        n=int(tests.n[row, other]),
                        reason=tests.reasons.get((row, other), ""),
                        is_significant=bool(significant[row, other]),
                    )
                    for other in order
                ],
            )
            for row in order
        ],
        definition=found.definition,
    )
