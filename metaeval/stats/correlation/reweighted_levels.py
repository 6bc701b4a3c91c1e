"""The levels of `levels.py` for resamples, given how often each unit was drawn.

Each copy of an article counts as another article, each copy of a system as another system. So an article
drawn twice counts twice among articles, but among the summaries of one system its copies tie, and vice versa.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.correlation.coefficients import Coefficient
from metaeval.stats.correlation.levels import SYSTEM_MEAN_DECIMALS
from metaeval.stats.correlation.reweighted_rows import Draws, ReweightedRows, sum_table
from metaeval.stats.groups import Groups
from metaeval.stats.rows import Rows

Values = Callable[[Draws], Floats]
"""A function of draws that returns the coefficient in each resample: (resamples,), nan where undefined."""

ALWAYS = 0
"""The unit of rows that are not drawn: it counts once in every resample."""


@dataclass(frozen=True)
class DrawnRows:
    """One evaluator's n complete summaries, and the units (n,) by which they are drawn."""

    rows: Rows
    article_units: Ints
    system_units: Ints
    unit_count: int


def pooled(coefficient: Coefficient, data: DrawnRows) -> Values:
    """Return the coefficient over all rows."""
    n = len(data.rows)
    by_both = bool(data.article_units.any() and data.system_units.any())
    values = coefficient.reweigh(
        ReweightedRows(
            data.rows.labels,
            data.rows.scores,
            Groups(np.array([n])),
            units=1 + np.arange(n) if by_both else data.article_units + data.system_units,
            unit_count=1 + n if by_both else data.unit_count,
            group_units=np.array([ALWAYS]),
        )
    )

    if not by_both:
        return lambda drawn: values(drawn)[0]
    article_units, system_units = (
        np.concatenate([[ALWAYS], units]) for units in (data.article_units, data.system_units)
    )

    def of_rows(drawn: Draws) -> Floats:
        times = drawn.times.take(article_units, axis=0)
        times *= drawn.times.take(system_units, axis=0)
        return values(Draws(times))[0]

    return of_rows


def article_mean(coefficient: Coefficient, data: DrawnRows) -> Values:
    """Return the mean over articles of the coefficient within each."""
    return _mean(coefficient, data, data.rows.articles, data.article_units, data.system_units)


def system_mean(coefficient: Coefficient, data: DrawnRows) -> Values:
    """Return the mean over systems of the coefficient within each."""
    return _mean(coefficient, data, data.rows.systems, data.system_units, data.article_units)


def system(coefficient: Coefficient, data: DrawnRows) -> Values:
    """Return the coefficient over the systems' means of labels and of scores."""
    order, groups = _sorted(data.rows.systems)
    units, of_group = data.article_units[order], groups.of_row
    counts, labels, scores = (
        sum_table(of_group, len(groups.sizes), units, data.unit_count, values)
        for values in (None, data.rows.labels[order], data.rows.scores[order])
    )
    group_units = data.system_units[order][groups.starts]

    def values(drawn: Draws) -> Floats:
        n = counts @ drawn.times
        copies = np.where(n > 0, drawn.times[group_units], 0).T.astype(np.int64)
        divisor = np.where(n > 0, n, 1)
        mean_labels, mean_scores = (
            np.repeat(
                np.round((sums @ drawn.times) / divisor, SYSTEM_MEAN_DECIMALS).T.ravel(), copies.ravel()
            )
            for sums in (labels, scores)
        )
        resamples = Groups(copies.sum(axis=1))
        if not coefficient.is_fitted_to_all:
            return coefficient.of_groups(mean_labels, mean_scores, resamples).values
        ends = np.cumsum(resamples.sizes)[:-1]
        each = zip(np.split(mean_labels, ends), np.split(mean_scores, ends), strict=True)
        return np.array([coefficient.of(label, score).value for label, score in each])

    return values


LEVELS: dict[str, Callable[[Coefficient, DrawnRows], Values]] = {
    "pooled": pooled,
    "article": article_mean,
    "system": system,
    "within_system": system_mean,
}
"""Functions by level, named as in `levels.LEVELS`. The rows' group must be known where a level needs it."""


def _mean(
    coefficient: Coefficient, data: DrawnRows, codes: Ints, group_units: Ints, row_units: Ints
) -> Values:
    order, groups = _sorted(codes)
    reweighted = ReweightedRows(
        data.rows.labels[order],
        data.rows.scores[order],
        groups,
        units=row_units[order],
        unit_count=data.unit_count,
        group_units=group_units[order][groups.starts],
    )
    if row_units.any() or coefficient.is_fitted_to_all:
        values = coefficient.reweigh(reweighted)
        return lambda drawn: _mean_of_defined(values(drawn), reweighted.group_times(drawn))
    of_group = coefficient.of_groups(reweighted.labels, reweighted.scores, groups).values[:, None]
    return lambda drawn: _mean_of_defined(of_group, reweighted.group_times(drawn))


def _mean_of_defined(values: Floats, group_times: Floats) -> Floats:
    """Return the mean of the defined `values`, weighted by `group_times`, (resamples,).

    `values` is (groups, resamples) or (groups, 1).
    """
    defined = ~np.isnan(values)
    drawn = group_times * defined
    count = drawn.sum(axis=0)
    total = np.einsum("ij,ij->j", drawn, np.broadcast_to(np.where(defined, values, 0), drawn.shape))
    return total / np.where(count > 0, count, np.nan)


def _sorted(codes: Ints) -> tuple[Ints, Groups]:
    order = np.argsort(codes, kind="stable")
    return order, Groups(np.unique(codes, return_counts=True)[1])
