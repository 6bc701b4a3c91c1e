"""Pairwise accuracy after tie calibration: scores that differ by little count as tied."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation.pairwise_accuracy import pairwise_accuracy, reweighted_pairwise_accuracy
from metaeval.stats.correlation.reweighted_rows import Draws, ReweightedRows
from metaeval.stats.groups import Groups

MOST_PAIRS = 2_000_000
"""The most pairs in all groups together; calibration of more would take too much memory and time."""
# Sums of the same shares in another order differ by about 1e-16 a pair, which must not move epsilon.
ROUNDING = 1e-12


def calibrated_accuracy(labels: Floats, scores: Floats, groups: Groups) -> Floats:
    """Return acc_eq of each group, with the epsilon that maximises its mean over the groups.

    Two scores tie if they differ by at most epsilon; the smallest best epsilon of 0 or more is taken, the
    same in all groups. It is chosen on the very data it is applied to, so the accuracy is optimistic, all
    the more so the fewer the pairs.

    Parameters
    ----------
    labels, scores : (rows,) finite numbers, sorted by group; either may be all equal. In every group at
        least two rows, in all together at most `MOST_PAIRS` pairs; `Coefficient` sees to that.

    Returns (groups,) 0 to 1.

    Source: D. Deutsch, G. Foster & M. Freitag, "Ties Matter: Meta-Evaluating Modern Metrics with Pairwise
    Accuracy and Tie Calibration", EMNLP 2023, section 5.

    >>> calibrated_accuracy(np.array([1.0, 1.0, 2.0]), np.array([3.9, 4.0, 5.0]), Groups(np.array([3])))
    array([1.])
    """
    exact = pairwise_accuracy(labels, scores, groups)
    pairs = _changed_pairs(labels, scores, groups)
    possible = groups.sizes * (groups.sizes - 1) / 2
    shares = pairs.gain / possible[pairs.groups]
    tied = pairs.best(shares)
    return exact + np.bincount(pairs.groups[tied], shares[tied], len(exact))


def reweighted_calibrated_accuracy(rows: ReweightedRows) -> Callable[[Draws], Floats]:
    """Return a function from draws to the coefficient in each resample.

    The result is (groups, resamples), nan where it is undefined.

    Epsilon is chosen again in each resample, with each group as often as it was drawn. That goes through all
    pairs: a million of them take about 20 seconds for 1,000 resamples. Of more than `MOST_PAIRS` pairs of the
    data itself every resample is undefined.
    """
    if not few_enough_pairs(rows.groups).all():
        return lambda drawn: np.full(rows.sizes(drawn).shape, np.nan)
    exact = reweighted_pairwise_accuracy(rows)
    pairs = _changed_pairs(rows.labels, rows.scores, rows.groups)
    first, second = rows.units[pairs.first], rows.units[pairs.second]

    def values(drawn: Draws) -> Floats:
        result = exact(drawn)
        sizes = rows.sizes(drawn)
        possible = np.where(sizes > 1, sizes * (sizes - 1) / 2, np.inf)
        importance = rows.group_times(drawn) / possible
        for at in range(sizes.shape[1]):
            times = drawn.times[:, at]
            gains = pairs.gain * times[first] * times[second]
            tied = pairs.best(gains * importance[pairs.groups, at])
            result[:, at] += np.bincount(pairs.groups[tied], gains[tied], len(result)) / possible[:, at]
        return result

    return values


def few_enough_pairs(groups: Groups) -> Bools:
    """Return whether all groups together have few enough pairs, (groups,), the same for all."""
    return np.full(len(groups.sizes), (groups.sizes * (groups.sizes - 1) // 2).sum() <= MOST_PAIRS)


@dataclass(frozen=True)
class _ChangedPairs:
    """Pairs of a group that become right or wrong once their scores tie, by score difference."""

    first: Ints
    second: Ints
    groups: Ints
    gain: Floats
    """(pairs,) 1 if the labels tie, -1 if the scores order them as the labels do."""
    is_last: Bools
    """(pairs,) whether the next pair's scores differ by more."""

    def best(self, gains: Floats) -> slice:
        """Return the pairs that tie at the smallest best epsilon.

        `gains` is what each pair adds to the sum to maximise.
        """
        sums = np.cumsum(gains)[self.is_last]
        largest = max(float(sums.max(initial=0)), 0.0)
        if largest <= ROUNDING:
            return slice(0)
        ends = np.flatnonzero(self.is_last)
        return slice(int(ends[np.argmax(sums >= largest - ROUNDING * max(1.0, largest))]) + 1)


def _changed_pairs(labels: Floats, scores: Floats, groups: Groups) -> _ChangedPairs:
    later = groups.spread(groups.starts + groups.sizes) - np.arange(len(labels)) - 1
    first = np.repeat(np.arange(len(labels)), later)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)
    by_score, by_label = scores[first] - scores[second], labels[first] - labels[second]
    gain = np.where(by_label == 0, 1.0, -(np.sign(by_label) == np.sign(by_score)).astype(np.float64))
    gaps = np.abs(by_score)
    changed = np.flatnonzero((gaps > 0) & (gain != 0))
    changed = changed[np.argsort(gaps[changed], kind="stable")]
    is_last = np.diff(gaps[changed], append=np.inf) > 0
    return _ChangedPairs(
        first[changed], second[changed], groups.of_row[first[changed]], gain[changed], is_last
    )
