"""Ranks within groups."""

import numpy as np

from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.groups import Groups


def value_codes(values: Floats | Ints, groups: Groups) -> Ints:
    """(rows,) codes 0, 1, 2 ... that number the distinct (group, value) pairs in ascending order.

    Rows share a code exactly when they share group and value; -0.0 equals 0.0.
    """
    distinct, codes = np.unique(values, return_inverse=True)
    if len(groups.sizes) == 1:
        return codes
    return np.unique(groups.of_row * len(distinct) + codes, return_inverse=True)[1]


def midranks(values: Floats, groups: Groups) -> Floats:
    """(rows,) each row's rank 1, 2 ... within its group; equal values share the mean of their ranks.

    >>> midranks(np.array([5.0, 3.0, 5.0]), Groups(np.array([3])))
    array([2.5, 1. , 2.5])
    """
    codes = value_codes(values, groups)
    times = np.bincount(codes)
    middle = np.cumsum(times) - (times - 1) / 2
    return middle[codes] - groups.spread(groups.starts)
