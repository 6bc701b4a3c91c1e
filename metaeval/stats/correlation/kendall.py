"""Kendall's rank correlation τ-b."""

from collections.abc import Callable

import numpy as np

from metaeval.stats.arrays import Floats
from metaeval.stats.correlation.pair_counts import PairCounts, pair_counts
from metaeval.stats.correlation.reweighted_pairs import ReweightedPairs
from metaeval.stats.correlation.reweighted_rows import Drawn, ReweightedRows
from metaeval.stats.groups import Groups


def kendall_b(labels: Floats, scores: Floats, groups: Groups) -> Floats:
    """Kendall's τ-b of each group: (C - D) / sqrt((C + D + T_x)(C + D + T_z)).

    C and D are the concordant and discordant pairs of rows, T_x the pairs tied in the scores only, T_z
    those tied in the labels only; pairs tied in both count nowhere.

    Parameters
    ----------
    labels, scores : (rows,) finite numbers, sorted by group. In every group at least two rows, of which
        neither the labels nor the scores are all equal; `Coefficient` sees to that.

    Returns
    -------
    (groups,) -1 to 1.

    Source: M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33, 1945. The same as
    `scipy.stats.kendalltau` without its p-value.

    >>> kendall_b(np.array([1.0, 2.0, 3.0]), np.array([2.0, 9.0, 4.0]), Groups(np.array([3]))).round(6)
    array([0.333333])
    """
    return _of_pairs(pair_counts(labels, scores, groups))


def reweighted_kendall_b(rows: ReweightedRows) -> Callable[[Drawn], Floats]:
    """The same for resamples: how often each unit was drawn, to (groups, resamples), nan where undefined."""
    pairs = ReweightedPairs(rows)
    return lambda drawn: _of_pairs(pairs(drawn))


def _of_pairs(pairs: PairCounts) -> Floats:
    untied = (pairs.concordant + pairs.discordant).astype(np.float64)
    possible = (untied + pairs.tied_scores_only) * (untied + pairs.tied_labels_only)
    tau = (pairs.concordant - pairs.discordant) / np.sqrt(np.where(possible > 0, possible, np.nan))
    return np.clip(tau, -1.0, 1.0)
