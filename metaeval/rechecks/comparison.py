"""Statistics of a model's repeated replies: how much they vary, and whether they have changed.

Replies are numbers, or None for a reply without a score. The distance of two numbers is their absolute
difference; of a number and None, the range of all numbers (1 if they are all equal); of None and None, 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from statistics import fmean, variance
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

Replies = Sequence[float | None]

LEVEL = 0.01
"""Significance level, small since scheduled rechecks repeat the test."""
RESAMPLES = 9999
CONFIDENCE = 0.95


@dataclass(frozen=True)
class ReplyConsistency:
    """The consistency of repeated replies on one dimension."""

    summaries: int
    """Summaries with a score each time, to which the figures below refer."""
    unscored: int
    """Other summaries with a score at least once."""
    identical: float | None
    """Share of summaries that got the same score each time."""
    difference: float | None
    """Mean absolute difference of two replies, over all pairs of a summary and all summaries."""
    deviation: float | None
    """Standard deviation within a summary (root of the mean of the variances over n - 1)."""


@dataclass(frozen=True)
class Shift:
    """The shift of replies on one dimension since the first."""

    summaries: int
    """Summaries with a score then and each time now."""
    lost: int
    """Summaries with a score then, but not each time now."""
    changed: float | None
    """Share of summaries whose first score did not recur."""
    difference: float | None
    """Mean over summaries of the mean new reply minus the first."""
    low: float | None
    high: float | None
    """Ends of its 95% interval by Student's t over summaries; None for fewer than two."""


def measure_consistency(replies: Mapping[int, Replies]) -> ReplyConsistency:
    """Measure the consistency of `replies` by summary, two or more each."""
    whole = [found for each in replies.values() if (found := _numbers(each)) is not None]
    some = sum(any(reply is not None for reply in each) for each in replies.values())
    if not whole:
        return ReplyConsistency(0, some, None, None, None)
    return ReplyConsistency(
        summaries=len(whole),
        unscored=some - len(whole),
        identical=fmean(len(set(each)) == 1 for each in whole),
        difference=fmean(fmean(abs(one - two) for one, two in combinations(each, 2)) for each in whole),
        deviation=sqrt(fmean(variance(each) for each in whole)),
    )


def shift_of(replies: Mapping[int, Replies]) -> Shift:
    """Measure the shift of `replies` by summary: the first, then the new ones."""
    whole = [found for each in replies.values() if (found := _numbers(each)) is not None]
    lost = sum(each[0] is not None and None in each[1:] for each in replies.values())
    if not whole:
        return Shift(0, lost, None, None, None, None)
    differences = [fmean(new) - first for first, *new in whole]
    low, high = _t_interval(differences)
    return Shift(
        summaries=len(whole),
        lost=lost,
        changed=fmean(first not in new for first, *new in whole),
        difference=fmean(differences),
        low=low,
        high=high,
    )


def p_unchanged(by_dimension: Sequence[Mapping[int, Replies]], seed: int = 0) -> float:
    """Return the p-value of the hypothesis that the model has not changed, by a permutation test.

    Each mapping has one dimension's replies by summary: the first, then two or more new ones. If the model is
    unchanged, any reply of a summary could have been the first. Two statistics are summed over summaries and
    dimensions, in units of the dimension's range. The first is the mean distance of the first reply from the
    new ones minus the mean distance among the new ones; it detects changes that leave the mean alone. The
    second is the mean new reply minus the first, as an absolute value per dimension; it detects small shifts
    under much noise. Each of RESAMPLES draws takes one random reply per summary, on all its dimensions, as
    the first. The smaller of the two shares of draws at least as extreme is compared with that of each draw.

    The result is between 1 / (1 + RESAMPLES) and 1. If the replies have no noise and n summaries changed, it
    is about 3^-n.

    Source: permutation test of exchangeability, combined by the smallest p-value: F. Pesarin and L. Salmaso,
    Permutation Tests for Complex Data, 2010. Raises ValueError for fewer than two new replies.
    """
    import numpy as np
    from scipy.stats import rankdata

    distances, moves = _statistics(by_dimension)
    if not len(distances):
        return 1.0
    draws = np.random.default_rng(seed).integers(distances.shape[1], size=(1 + RESAMPLES, len(distances)))
    draws[0] = 0  # the observed order
    summaries = np.arange(len(distances))
    statistics = np.stack(
        (
            distances[summaries, draws].sum(axis=1),
            np.abs(moves[summaries, draws].sum(axis=1)).sum(axis=1),
        )
    )
    # Rounded, so that rounding errors do not make equal draws differ.
    as_extreme = rankdata(-statistics.round(9), method="max", axis=1)
    smaller = as_extreme.min(axis=0)
    return float(np.mean(smaller <= smaller[0]))


def _statistics(by_dimension: Sequence[Mapping[int, Replies]]) -> "tuple[Floats, Floats]":
    """Return each summary's contributions to the two statistics, with each of its replies as the first.

    Distances are (summaries, replies), moves (summaries, replies, dimensions). A summary that lacks a score
    has moves of 0.
    """
    import numpy as np

    ordered = sorted({summary for replies in by_dimension for summary in replies})
    places = {summary: place for place, summary in enumerate(ordered)}
    count = max((len(each) for replies in by_dimension for each in replies.values()), default=3)
    distances = np.zeros((len(places), count))
    moves = np.zeros((len(places), count, len(by_dimension)))
    for dimension, replies in enumerate(by_dimension):
        numbers = [reply for each in replies.values() for reply in each if reply is not None]
        span = (max(numbers) - min(numbers) or 1.0) if numbers else 1.0
        for summary, each in replies.items():
            if not 3 <= len(each) == count:
                raise ValueError("expected two or more new replies per summary, equally many of each")
            apart = np.array([[_distance(one, two, span) for two in each] for one in each]) / span
            from_it = apart.sum(axis=1) / (count - 1)
            among_others = (apart.sum() - 2 * apart.sum(axis=1)) / ((count - 1) * (count - 2))
            distances[places[summary]] += from_it - among_others
            if (scores := _numbers(each)) is not None:
                own = np.array(scores) / span
                moves[places[summary], :, dimension] = (own.sum() - own) / (count - 1) - own
    return distances, moves


def _distance(one: float | None, two: float | None, span: float) -> float:
    if one is None or two is None:
        return 0.0 if one is two else span
    return abs(one - two)


def _numbers(replies: Replies) -> list[float] | None:
    """Return the replies if all are numbers, else None."""
    numbers = [reply for reply in replies if reply is not None]
    return numbers if len(numbers) == len(replies) else None


def _t_interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    from scipy.stats import t

    if len(values) < 2:
        return None, None
    error = sqrt(variance(values) / len(values))
    reach = float(t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)) * error
    return fmean(values) - reach, fmean(values) + reach
