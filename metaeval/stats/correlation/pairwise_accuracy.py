"""Pairwise accuracy that rewards ties, acc_eq."""

from collections.abc import Callable

import numpy as np

from metaeval.stats.arrays import Floats
from metaeval.stats.correlation.pair_counts import PairCounts, pair_counts
from metaeval.stats.correlation.reweighted_pairs import ReweightedPairs
from metaeval.stats.correlation.reweighted_rows import Draws, ReweightedRows
from metaeval.stats.groups import Groups


def pairwise_accuracy(labels: Floats, scores: Floats, groups: Groups) -> Floats:
    """Return acc_eq of each group: (C + T_xz) / (n (n - 1) / 2).

    C are the pairs of the group's n rows that labels and scores order alike, T_xz those tied on both sides.
    Two scores tie only if they are equal; `calibrated_accuracy` lets nearly equal ones tie.

    Parameters
    ----------
    labels, scores : (rows,) finite numbers, sorted by group; either may be all equal. In every group at
        least two rows; `Coefficient` sees to that.

    Returns (groups,) 0 to 1.

    Source: D. Deutsch, G. Foster & M. Freitag, "Ties Matter: Meta-Evaluating Modern Metrics with Pairwise
    Accuracy and Tie Calibration", EMNLP 2023, section 4.

    >>> pairwise_accuracy(np.array([1.0, 1.0]), np.array([5.0, 5.0]), Groups(np.array([2])))
    array([1.])
    """
    return _of_pairs(pair_counts(labels, scores, groups))


def reweighted_pairwise_accuracy(rows: ReweightedRows) -> Callable[[Draws], Floats]:
    """Return a function from draws to the coefficient in each resample.

    The result is (groups, resamples), nan where it is undefined.
    """
    pairs = ReweightedPairs(rows)
    return lambda drawn: _of_pairs(pairs(drawn))


def _of_pairs(pairs: PairCounts) -> Floats:
    either_tied = pairs.tied_labels_only + pairs.tied_scores_only + pairs.tied_both
    every = pairs.concordant + pairs.discordant + either_tied
    return (pairs.concordant + pairs.tied_both) / np.where(every > 0, every, np.nan)
