"""The number of summaries with several ratings that a narrower interval of agreement needs."""

import math

from metaeval.stats.result import Interval

MOST_TIMES = 100
"""Times the units there are: larger needs are reported as inf."""


def planned_units(interval: Interval, n_units: int, target: float) -> float:
    """Return the units needed until half of the interval is `target` or less.

    Half of an interval over units is assumed to fall with the square root of their number:
    wanted = n * (h / target)^2 with h half the present interval at n units, rounded up. It is n if the target
    is reached, inf beyond 100 times n, and nan without an interval or with one that has no width, which tells
    nothing. Further units are assumed to be of the same kind, with as many ratings each.

    Raises ValueError for a `target` not above 0.

    >>> planned_units(Interval(0.4, 0.8, "Interval: 95%."), 50, 0.1)
    200.0
    """
    if not target > 0:
        raise ValueError(f"target must be above 0, not {target}")
    half = (interval.high - interval.low) / 2
    if math.isnan(half) or half == 0:
        return math.nan
    if half <= target:
        return float(n_units)
    wanted = math.ceil(n_units * (half / target) ** 2 - 1e-9)
    return float(wanted) if wanted <= MOST_TIMES * n_units else math.inf
