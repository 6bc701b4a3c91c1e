"""How far apart a model's replies to one and the same question are, and whether later ones are others.

Replies are numbers, or None where a reply gave none. Their distance is the absolute difference; between a
number and None it is the range of all numbers (1 where they are all equal), as if opposite ends of the scale
had been said; between None and None it is 0.
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
"""Of significance: a schedule asks again and again, so a false alarm has to be rare."""
RESAMPLES = 9999
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Steadiness:
    """One dimension, each summary asked several times on it."""

    summaries: int
    """With a score each time; all below is about these."""
    unscored: int
    """Of the others, those with a score at least once."""
    identical: float | None
    """Share of summaries that got the same score each time."""
    difference: float | None
    """Mean absolute difference of two replies, over all pairs of a summary and all summaries."""
    deviation: float | None
    """Standard deviation within a summary (root of the mean of the variances over n - 1)."""


@dataclass(frozen=True)
class Shift:
    """One dimension: what is said now less what was said first."""

    summaries: int
    """With a score then and each time now."""
    lost: int
    """Scored then, and not each time now."""
    changed: float | None
    """Share of summaries of which the first score did not come again."""
    difference: float | None
    """Mean over summaries of the mean of the new replies less the first."""
    low: float | None
    high: float | None
    """Ends of its 95% interval by Student's t over summaries; None for fewer than two."""


def steadiness_of(replies: Mapping[int, Replies]) -> Steadiness:
    """`replies` by summary, two or more of each."""
    whole = [found for each in replies.values() if (found := _numbers(each)) is not None]
    some = sum(any(reply is not None for reply in each) for each in replies.values())
    if not whole:
        return Steadiness(0, some, None, None, None)
    return Steadiness(
        summaries=len(whole),
        unscored=some - len(whole),
        identical=fmean(len(set(each)) == 1 for each in whole),
        difference=fmean(fmean(abs(one - two) for one, two in combinations(each, 2)) for each in whole),
        deviation=sqrt(fmean(variance(each) for each in whole)),
    )


def shift_of(replies: Mapping[int, Replies]) -> Shift:
    """`replies` by summary: the first one, then the new ones."""
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
    """How likely the first replies would be at least this far from the new ones, were they of their kind.

    Each mapping has one dimension's replies by summary: the first one, then two or more new ones. As long as
    the model is the same, any of a summary's replies could have been the first. The statistic is the mean
    distance of the first reply from the new ones less the mean distance of the new ones from each other, over
    summaries and dimensions; it is compared with RESAMPLES draws in which one reply of each summary, on all
    its dimensions, is taken for the first. So what a model's own noise explains is no change, and a change
    that leaves the mean alone is one. (1 + draws as extreme) / (1 + RESAMPLES), from 0.0001 to 1; the lowest
    possible with n summaries of three replies is about 3^-n.

    Source: permutation test of exchangeability; e.g. P. Good, Permutation, Parametric and Bootstrap Tests of
    Hypotheses, 2005. Raises ValueError for fewer than two new replies, or other numbers of them.
    """
    import numpy as np

    table = _statistics(by_dimension)
    if table.size == 0:
        return 1.0
    observed = table[:, 0].sum()
    draws = np.random.default_rng(seed).integers(table.shape[1], size=(RESAMPLES, len(table)))
    drawn = table[np.arange(len(table)), draws].sum(axis=1)
    as_extreme = int(np.count_nonzero(drawn >= observed - 1e-12))
    return (1 + as_extreme) / (1 + RESAMPLES)


def _statistics(by_dimension: Sequence[Mapping[int, Replies]]) -> "Floats":
    """(summaries, replies): the statistic's part of each summary, were each of its replies the first."""
    import numpy as np

    parts: dict[int, Floats] = {}
    for replies in by_dimension:
        numbers = [reply for each in replies.values() for reply in each if reply is not None]
        span = (max(numbers) - min(numbers) or 1.0) if numbers else 1.0
        for summary, each in replies.items():
            if len(each) < 3:
                raise ValueError("two new replies or more are needed beside the first")
            distances = np.array([[_distance(one, two, span) for two in each] for one in each])
            count = len(each)
            from_it = distances.sum(axis=1) / (count - 1)
            among_others = (distances.sum() - 2 * distances.sum(axis=1)) / ((count - 1) * (count - 2))
            parts[summary] = parts.get(summary, 0.0) + from_it - among_others
    return np.array(list(parts.values()))


def _distance(one: float | None, two: float | None, span: float) -> float:
    if one is None or two is None:
        return 0.0 if one is two else span
    return abs(one - two)


def _numbers(replies: Replies) -> list[float] | None:
    """The replies, if all are numbers."""
    numbers = [reply for reply in replies if reply is not None]
    return numbers if len(numbers) == len(replies) else None


def _t_interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    from scipy.stats import t

    if len(values) < 2:
        return None, None
    error = sqrt(variance(values) / len(values))
    reach = float(t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)) * error
    return fmean(values) - reach, fmean(values) + reach
