"""Ranks within groups."""

import numpy as np

from metaeval.stats.arrays import Floats, Ints, can_be_counted, order_of, steps
from metaeval.stats.groups import Groups

# Up to so many different values each is found among them faster than all are sorted.
FEW_VALUES = 100


def value_codes(values: Floats | Ints, groups: Groups) -> Ints:
    """Number the distinct (group, value) pairs in ascending order, (rows,).

    Rows share a code exactly when they share group and value; -0.0 equals 0.0.
    """
    codes = _codes_with_gaps(values)
    if len(groups.sizes) == 1:
        return (np.cumsum(np.bincount(codes) > 0) - 1)[codes]
    keys = groups.of_row * (codes.max(initial=0) + 1) + codes
    order = order_of(keys)
    numbered = np.empty_like(keys)
    numbered[order] = steps(keys[order])
    return numbered


def _codes_with_gaps(values: Floats | Ints) -> Ints:
    """Return codes from 0 in the order of the values, (rows,); some codes may not occur."""
    if can_be_counted(values):
        whole = values.astype(np.int64)
        if np.array_equal(whole, values):
            whole -= whole.min()
            return whole
    return places_among_distinct(values)


def places_among_distinct(values: Floats | Ints) -> Ints:
    """Return the place of each value among the distinct ones, ascending, (rows,).

    -0.0 equals 0.0.

    >>> places_among_distinct(np.array([0.5, 0.0, 1.0, 0.5]))
    array([1, 0, 2, 1])
    """
    distinct = np.unique(values)
    if len(distinct) > FEW_VALUES:
        return np.unique(values, return_inverse=True)[1]
    return np.searchsorted(distinct, values)


def midranks(values: Floats, groups: Groups) -> Floats:
    """Return each row's rank 1, 2 ... within its group, (rows,); ties share their mean rank.

    >>> midranks(np.array([5.0, 3.0, 5.0]), Groups(np.array([3])))
    array([2.5, 1. , 2.5])
    """
    codes = _codes_with_gaps(values) if len(groups.sizes) == 1 else value_codes(values, groups)
    times = np.bincount(codes)
    middle = np.cumsum(times, dtype=np.float64)
    middle -= (times - 1) / 2
    return middle[codes] if len(groups.sizes) == 1 else middle[codes] - groups.spread(groups.starts)
