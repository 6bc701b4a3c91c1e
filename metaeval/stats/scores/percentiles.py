"""Percentiles of values, and how far ties leave them open."""

import numpy as np

from metaeval.stats.arrays import Floats, number_vector
from metaeval.stats.groups import Groups
from metaeval.stats.ranks import midranks


def percentiles(values: Floats) -> Floats:
    """Return the share of values below each one, equal values (itself included) counting half.

    p(v) = (#{w < v} + #{w = v} / 2) / n = (midrank(v) - 1/2) / n

    Their mean is 1/2 whatever the ties, so that two orders of the same things can be compared place by place.

    Parameters
    ----------
    values : (n,) numbers, nan for missing.

    Returns (n,) between 0 and 1, both excluded; nan where the value is missing, which counts nowhere. Equal
    values share theirs; if all are equal it is 1/2.

    Raises ValueError for infinite numbers or more than one dimension.

    Source: E. Parzen, "Quantile probability and statistical data modeling", Statistical Science 19, 2004: the
    mid-distribution function.

    >>> percentiles(np.array([3.0, 1.0, 3.0, 9.0]))
    array([0.5  , 0.125, 0.5  , 0.875])
    """
    numbers = number_vector("values", values)
    found = np.full(len(numbers), np.nan)
    there = ~np.isnan(numbers)
    n = int(there.sum())
    if n:
        found[there] = (midranks(numbers[there], Groups(np.array([n]))) - 0.5) / n
    return found


def tie_ranges(values: Floats) -> tuple[Floats, Floats]:
    """Return the shares of values below each value, and not above it: its range if ties were broken.

    (#{w < v} / n, #{w <= v} / n), whose middle is `percentiles`.

    Parameters
    ----------
    values : (n,) numbers, none missing.

    Returns two (n,), between 0 and 1. The ranges of two different values meet in a point at most.

    Raises ValueError for missing or infinite numbers or more than one dimension.

    >>> low, high = tie_ranges(np.array([3.0, 1.0, 3.0, 9.0]))
    >>> low, high
    (array([0.25, 0.  , 0.25, 0.75]), array([0.75, 0.25, 0.75, 1.  ]))
    """
    numbers = number_vector("values", values)
    if np.isnan(numbers).any():
        raise ValueError("values must not be missing")
    _, codes, times = np.unique(numbers, return_inverse=True, return_counts=True)
    up_to = np.cumsum(times)
    n = max(len(numbers), 1)
    return (up_to - times)[codes] / n, up_to[codes] / n


def percentile_of(value: float, values: Floats) -> float:
    """Return the percentile of one of the values without sorting them all.

    Nan if `value` is nan. Raises ValueError if it is not among `values`.

    >>> percentile_of(3.0, np.array([3.0, 1.0, np.nan, 3.0, 9.0]))
    0.5
    """
    if np.isnan(value):
        return float("nan")
    equal = int((values == value).sum())
    if not equal:
        raise ValueError(f"value {value} must be among the values")
    return (int((values < value).sum()) + equal / 2) / int((~np.isnan(values)).sum())
