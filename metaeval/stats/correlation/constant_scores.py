"""Articles to all of whose summaries an evaluator gave the same score, though their labels differ.

A correlation within such an article is undefined. Left out, it favours an evaluator that orders few articles:
its mean is over these few. Counted as 0, an article that the evaluator does not order earns it nothing.
Articles with equal labels are always left out, because no evaluator could order them.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from metaeval.stats.arrays import Floats
from metaeval.stats.correlation.coefficients import COEFFICIENTS, VARIED_SCORES, Coefficient
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.correlation.reweighted_rows import Draws, ReweightedRows, ValueCounts
from metaeval.stats.groups import Groups

ZERO, LEFT_OUT = "zero", "left_out"

CONSTANT = {ZERO: "counted as 0", LEFT_OUT: "left out"}
"""The treatment of an article, or at the level 'within_system' a system, with equal scores."""


def coefficient_at(level: str, coefficient: str, constant: str = LEFT_OUT) -> Coefficient:
    """Return the coefficient as the level takes it, with `constant` one of `CONSTANT`.

    It matters at levels that are means, and for coefficients that equal scores leave undefined.

    Raises KeyError for a name that is not there.
    """
    if constant not in CONSTANT:
        raise KeyError(constant)
    chosen = COEFFICIENTS[coefficient]
    if constant == LEFT_OUT or not LEVELS[level].group or VARIED_SCORES not in chosen.needs:
        return chosen
    return replace(
        chosen,
        needs=tuple(need for need in chosen.needs if need is not VARIED_SCORES),
        compute=_zero_if_constant(chosen.compute),
        reweigh=_zero_if_drawn_constant(chosen.reweigh),
        is_zero_if_constant=True,
    )


def _zero_if_constant(
    compute: Callable[[Floats, Floats, Groups], Floats],
) -> Callable[[Floats, Floats, Groups], Floats]:
    def computed(labels: Floats, scores: Floats, groups: Groups) -> Floats:
        varied = VARIED_SCORES.holds(labels, scores, groups)
        values = np.zeros(len(varied))
        if varied.any():
            rows = groups.spread(varied)
            values[varied] = compute(labels[rows], scores[rows], groups.only(varied))
        return values

    return computed


def _zero_if_drawn_constant(
    reweigh: Callable[[ReweightedRows], Callable[[Draws], Floats]],
) -> Callable[[ReweightedRows], Callable[[Draws], Floats]]:
    def reweighed(rows: ReweightedRows) -> Callable[[Draws], Floats]:
        values, labels = reweigh(rows), ValueCounts(rows, rows.label_codes)

        def of_draws(drawn: Draws) -> Floats:
            found = values(drawn)
            undefined = np.isnan(found)
            if undefined.any():
                found[undefined & (labels.distinct(drawn) > 1)] = 0.0
            return found

        return of_draws

    return reweighed
