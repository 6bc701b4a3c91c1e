"""Which of two evaluators is better on one dimension: every pair of them in a table."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.comparison import MetaevalTable
from metaeval.uncertainty import Uncertainty


@dataclass(frozen=True)
class PairCell:
    """The evaluator of the row beside that of the column."""

    difference: float
    """Of the coefficients on the summaries that both have scored; above 0 the row's is better."""
    p_value: float
    """After the correction; nan where there is none."""
    n: int
    """Summaries that both have scored."""
    reason: str
    """Why there is no p-value."""
    is_told_apart: bool

    @property
    def is_defined(self) -> bool:
        return not math.isnan(self.difference)

    @property
    def has_p_value(self) -> bool:
        return not math.isnan(self.p_value)


@dataclass(frozen=True)
class SignificanceTable:
    """Evaluators from best to worst, each beside every other."""

    dimension: str
    names: Sequence[str]
    rows: Sequence[tuple[str, str, Sequence[PairCell | None]]]
    """Name, letters, and the cells; None beside itself."""
    definition: str

    def as_json(self) -> list[dict[str, object]]:
        """Each ordered pair as a row of a file."""
        return [
            {
                "dimension": self.dimension,
                "evaluator": name,
                "other": other,
                "difference": cell.difference if cell.is_defined else None,
                "p_value": cell.p_value if cell.has_p_value else None,
                "told_apart": cell.is_told_apart,
                "n": cell.n,
                "reason": cell.reason,
                "definition": self.definition,
            }
            for name, _, cells in self.rows
            for other, cell in zip(self.names, cells, strict=True)
            if cell is not None
        ]


def significance_table(
    table: MetaevalTable,
    uncertain: Sequence[Uncertainty],
    question: str,
    names: Mapping[str, str] | None = None,
) -> SignificanceTable | None:
    """The pairs of evaluators on one question (its key); None where there is no test.

    `names` has what evaluators are called in place of their labels, by key.
    """
    place = [column.labels.key for column in table.columns].index(question)
    column, found = table.columns[place], uncertain[place]
    if found.tests is None:
        return None
    tests, told_apart = found.tests, found.told_apart
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
                    else PairCell(
                        difference=float(tests.differences[row, other]),
                        p_value=float(found.adjusted[row, other]),
                        n=int(tests.n[row, other]),
                        reason=tests.reasons.get((row, other), ""),
                        is_told_apart=bool(told_apart[row, other]),
                    )
                    for other in order
                ],
            )
            for row in order
        ],
        definition=found.definition,
    )
