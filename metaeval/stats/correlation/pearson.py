"""Pearson's product-moment correlation r."""

from collections.abc import Callable

import numpy as np

from metaeval.stats.arrays import Floats
from metaeval.stats.groups import Groups


def pearson(labels: Floats, scores: Floats, groups: Groups) -> Floats:
    """Return Pearson's r of each group: S_xz / sqrt(S_xx S_zz).

    S are the sums of products of deviations from the mean.

    Parameters
    ----------
    labels, scores : (rows,) finite numbers, sorted by group. In every group at least two rows, of which
        neither the labels nor the scores are all equal; `Coefficient` sees to that.

    Returns (groups,) -1 to 1.

    Source: K. Pearson, "Note on regression and inheritance in the case of two parents", Proceedings of the
    Royal Society of London 58, 1895.

    >>> pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 9.0]), Groups(np.array([3]))).round(6)
    array([0.970725])
    """
    return pearson_with(labels, groups)(scores)


def pearson_with(labels: Floats, groups: Groups) -> Callable[[Floats], Floats]:
    """Return a function from one evaluator's scores to `pearson` with these labels."""
    z = _deviations(labels, groups)
    squares = groups.total(z * z)

    def of(scores: Floats) -> Floats:
        x = _deviations(scores, groups)
        return np.clip(groups.total(x * z) / np.sqrt(groups.total(x * x) * squares), -1.0, 1.0)

    return of


def _deviations(values: Floats, groups: Groups) -> Floats:
    """Return deviations from the group's mean, divided by the largest so that no square underflows.

    The mean is subtracted twice: rounding matters where values hardly differ.

    Taking the mean off again makes up for the rounding of the first one, which matters where the values
    differ by little more than rounding.
    """
    deviations = values - groups.spread(groups.mean(values))
    deviations /= groups.spread(groups.largest(np.abs(deviations)))
    return deviations - groups.spread(groups.mean(deviations))
