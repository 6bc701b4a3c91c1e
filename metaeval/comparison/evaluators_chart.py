"""The chart of all evaluators on one dimension, with the human ceiling."""

import math
from collections.abc import Sequence

from metaeval.charts import Measured, evaluator_bars
from metaeval.comparison.comparison import GUARD, ComparisonFigure
from metaeval.export.chart import Chart
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS


def evaluators_chart(figures: Sequence[ComparisonFigure], ceiling: float, intervals_of: str = "") -> Chart:
    """Return a bar chart of figures, at least one, of the same dimension and level.

    `ceiling` is one rater's agreement with the others; nan if unknown. `intervals_of` names the earlier
    revision that the intervals belong to.
    """
    first = figures[0]
    labels, coefficient = first.labels, COEFFICIENTS[first.coefficient].label
    known = not math.isnan(ceiling)
    return Chart(
        "evaluators",
        (labels.key, first.level, first.coefficient),
        lambda: evaluator_bars(
            [Measured.of(figure.evaluator.label, figure.estimate) for figure in figures],
            title=f"Agreement of each evaluator with human labels, {labels.title}",
            value_title=f"{coefficient}, {LEVELS[first.level].label}",
            chance=0.5 if first.coefficient == "roc_auc" else 0.0,
            ceiling=ceiling if known else None,
            left_out=GUARD,
        ),
        lambda: [figure.as_json() for figure in figures],
        _caption(figures, known, intervals_of),
    )


def _caption(figures: Sequence[ComparisonFigure], has_ceiling: bool, intervals_of: str) -> str:
    has_intervals = any(figure.estimate.interval for figure in figures)
    parts = [f"Bars: every evaluator on {figures[0].labels.title}"]
    parts += (
        ["lines: 95% intervals" + (f" as of {intervals_of}" if intervals_of else "")] if has_intervals else []
    )
    parts += ["dashed: one rater against the others"] if has_ceiling else []
    return f"{'; '.join(parts)}."
