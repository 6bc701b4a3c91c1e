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
    """How likely the first replies would stand out this much from the new ones, were they of their kind.

    Each mapping has one dimension's replies by summary: the first one, then two or more new ones. As long as
    the model is the same, any of a summary's replies could have been the first. Two statistics, both summed
    over summaries and dimensions, in ranges of a dimension's numbers: the mean distance of the first reply
    from the new ones less the mean distance of the new ones from each other, which sees a change that leaves
    the mean alone; and, without its sign on a dimension, the mean of the new replies less the first, which
    sees a small move in one direction through much noise. They are compared with RESAMPLES draws in which one
    reply of each summary, on all its dimensions, is taken for the first; the smaller of the two shares of
    draws that are as extreme is compared in turn with the smaller one of each draw. So what a model's own
    noise explains is no change. From 1 / (1 + RESAMPLES) to 1; with n summaries changed of which the replies
    have no noise it is about 3^-n.

    Source: permutation test of exchangeability, combined by the smallest p-value: F. Pesarin and L. Salmaso,
    Permutation Tests for Complex Data, 2010. Raises ValueError for fewer than two new replies.
    """
    import numpy as np
    from scipy.stats import rankdata

    distances, moves = _statistics(by_dimension)
    if not len(distances):
        return 1.0
    draws = np.random.default_rng(seed).integers(distances.shape[1], size=(1 + RESAMPLES, len(distances)))
    draws[0] = 0  # what was observed
    summaries = np.arange(len(distances))
    statistics = np.stack(
        (
            distances[summaries, draws].sum(axis=1),
            np.abs(moves[summaries, draws].sum(axis=1)).sum(axis=1),
        )
    )
    # Rounded, since draws that are equal but for the last digits are equally extreme.
    as_extreme = rankdata(-statistics.round(9), method="max", axis=1)
    smaller = as_extreme.min(axis=0)
    return float(np.mean(smaller <= smaller[0]))


def _statistics(by_dimension: Sequence[Mapping[int, Replies]]) -> "tuple[Floats, Floats]":
    """The parts of each summary in the two statistics, were each of its replies the first.

    Distances, (summaries, replies), and moves, (summaries, replies, dimensions); a summary without a score
    each time has no move.
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
                raise ValueError("two new replies or more are needed beside the first, of each as many")
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
