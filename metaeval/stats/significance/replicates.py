"""Differences of two evaluators' coefficients over many draws, and their p-value."""

from collections.abc import Callable
from functools import cache
from itertools import combinations

import numpy as np

from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.significance.compared import Compared

# Smaller differences of two coefficients are rounding.
ROUNDING = 1e-10

Replicates = Callable[[Ints, Bools], Floats]
"""(evaluators, draws) the coefficients of the evaluators named, in draws of the summaries named."""


def differences(data: Compared, replicates: Replicates) -> Callable[[int, int], Floats]:
    """Return a function from two evaluators to their defined differences, (draws,).

    The draws are of the summaries that count for both; one run serves all pairs with the same ones. It waits
    for the first of them: where the coefficient is undefined for all, there may be nothing to draw from.
    """

    @cache
    def members() -> dict[bytes, set[int]]:
        """The evaluators of the pairs with the same common summaries."""
        found: dict[bytes, set[int]] = {}
        for pair in combinations(range(len(data.scored)), 2):
            found.setdefault(data.common(*pair).tobytes(), set()).update(pair)
        return found

    @cache
    def run(common: bytes) -> dict[int, Floats]:
        evaluators = sorted(members()[common])
        drawn = replicates(np.array(evaluators), np.frombuffer(common, dtype=bool))
        return dict(zip(evaluators, drawn, strict=True))

    def of_pair(first: int, second: int) -> Floats:
        drawn = run(data.common(first, second).tobytes())
        gap = drawn[first] - drawn[second]
        return gap[~np.isnan(gap)]

    return of_pair
