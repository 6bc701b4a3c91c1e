"""The number of articles, or of summaries with several ratings, that an interval of agreement needs."""

import math
from bisect import bisect_left

from metaeval.stats.result import Interval
from metaeval.stats.uncertainty.always_valid import always_valid_quantile
from metaeval.stats.uncertainty.percentile_interval import CONFIDENCE

MOST_TIMES = 100
"""Times the units there are: larger needs are reported as inf."""


def planned_units(interval: Interval, n_units: int, target: float) -> float:
    """Return the units, articles or summaries, at which half of the interval is `target`.

    Half of a bootstrap interval over n units is about s √(n − 1) / n, with s the spread of single units. So
    with h half the present interval at n units, wanted² / (wanted − 1) = n² / (n − 1) · h² / target², rounded
    up. It is n or less if the target is reached, inf beyond 100 times n, and nan without an interval
    or with one that has no width, which tells nothing. Further units are assumed to be of the same kind, with
    as many ratings each. Widths vary, so about half of the campaigns of that size reach the target.

    Raises ValueError for a `target` not above 0.

    >>> planned_units(Interval(0.4, 0.8, "Interval: 95%."), 50, 0.1)
    204.0
    >>> planned_units(Interval(0.4, 0.8, "Interval: 95%."), 50, 0.4)
    12.0
    """
    half = _half(interval, target)
    if math.isnan(half):
        return math.nan
    ratio = (half / target) ** 2 * n_units**2 / (n_units - 1)
    wanted = math.ceil((ratio + math.sqrt(ratio * (ratio - 4))) / 2 - 1e-9) if ratio > 4 else 2
    return float(wanted) if wanted <= MOST_TIMES * n_units else math.inf


def planned_always_valid(interval: Interval, articles: int, target: float) -> float:
    """Return the articles at which half of an always-valid interval, now `interval`, is `target`.

    Half of the interval over n articles is q(n) s / √n, with s the spread of single articles and q(n) the
    `always_valid_quantile` with n - 1 degrees of freedom. So it falls by the ratio of q(n) / √n. The result
    is the fewest articles at which it is `target` or less; n or less if the target is reached, inf beyond 100
    times the present articles, and nan without an interval or if it has no width. Further articles are
    assumed to be of the same kind, with as many summaries and ratings each.

    Raises ValueError for a `target` not above 0.

    >>> planned_always_valid(Interval(0.4, 0.8, ""), 50, 0.1)
    200.0
    >>> planned_always_valid(Interval(0.1, 0.5, ""), 50, 0.4)
    18.0
    """
    half = _half(interval, target)
    if math.isnan(half):
        return math.nan
    spread = half / _per_spread(articles)
    numbers = range(2, MOST_TIMES * articles + 1)
    place = bisect_left(numbers, True, key=lambda n: spread * _per_spread(n) <= target * (1 + 1e-9))
    return float(numbers[place]) if place < len(numbers) else math.inf


def _half(interval: Interval, target: float) -> float:
    """Return half of the interval; nan without one or if it has no width."""
    if not target > 0:
        raise ValueError(f"target must be above 0, not {target}")
    return (interval.high - interval.low) / 2 or math.nan


def _per_spread(articles: int) -> float:
    return always_valid_quantile(1 - CONFIDENCE, articles, articles - 1) / math.sqrt(articles)
