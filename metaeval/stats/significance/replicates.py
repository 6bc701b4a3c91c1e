"""Differences of two evaluators' coefficients over many draws, and their p-value."""

from collections.abc import Callable
from functools import cache

import numpy as np

from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.significance.compared import Compared

# Smaller differences of two coefficients are rounding.
ROUNDING = 1e-10

Replicates = Callable[[Ints, Bools], Floats]
"""(evaluators, draws) the coefficients of the evaluators named, in draws of the summaries named."""


def differences(data: Compared, replicates: Replicates) -> Callable[[int, int], Floats]:
    """Return a function from two evaluators to their defined differences, (draws,).

    The draws are of the summaries that both have scored; where all evaluators have scored the same ones,
    one run serves every pair. It waits for the first pair: where the coefficient is undefined for all, there
    may be nothing to draw from.
    """
    alike = data.scored.size > 0 and bool((data.scored == data.scored[0]).all())

    @cache
    def everyone() -> Floats:
        return replicates(np.arange(len(data.scored)), data.scored[0])

    def of_pair(first: int, second: int) -> Floats:
        if alike:
            own, other = everyone()[[first, second]]
        else:
            own, other = replicates(np.array([first, second]), data.common(first, second))
        gap = own - other
        return gap[~np.isnan(gap)]

    return of_pair


def two_sided(differences: Floats) -> float:
    """Return 2 (k + 1) / (m + 1), at most 1.

    k is the smaller of #(d <= 0) and #(d >= 0) among m differences.

    >>> two_sided(np.array([0.2, 0.1, -0.1, 0.3, 0.4, 0.2, 0.0]))
    0.75
    """
    smaller = min(int((differences <= ROUNDING).sum()), int((differences >= -ROUNDING).sum()))
    return min(1.0, 2 * (smaller + 1) / (len(differences) + 1))
