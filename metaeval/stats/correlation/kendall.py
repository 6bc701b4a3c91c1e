"""Kendall's rank correlation τ-b and Stuart's τ-c."""

from collections.abc import Callable

import numpy as np

from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.correlation.pair_counts import PairCounts, pair_counts
from metaeval.stats.correlation.reweighted_pairs import ReweightedPairs
from metaeval.stats.correlation.reweighted_rows import Draws, ReweightedRows, ValueCounts
from metaeval.stats.groups import Groups
from metaeval.stats.ranks import value_codes


def kendall_b(labels: Floats, scores: Floats, groups: Groups) -> Floats:
    """Return Kendall's τ-b of each group: (C - D) / sqrt((C + D + T_x)(C + D + T_z)).

    C and D are the concordant and discordant pairs of rows, T_x the pairs tied in the scores only, T_z
    those tied in the labels only; pairs tied in both count nowhere.

    Parameters
    ----------
    labels, scores : (rows,) finite numbers, sorted by group. In every group at least two rows, of which
        neither the labels nor the scores are all equal; `Coefficient` sees to that.

    Returns (groups,) -1 to 1.

    Source: M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33, 1945. The same as
    `scipy.stats.kendalltau` without its p-value.

    >>> kendall_b(np.array([1.0, 2.0, 3.0]), np.array([2.0, 9.0, 4.0]), Groups(np.array([3]))).round(6)
    array([0.333333])
    """
    return _tau_b(pair_counts(labels, scores, groups))


def reweighted_kendall_b(rows: ReweightedRows) -> Callable[[Draws], Floats]:
    """Return a function from draws to the coefficient in each resample.

    The result is (groups, resamples), nan where it is undefined.
    """
    pairs = ReweightedPairs(rows)
    return lambda drawn: _tau_b(pairs(drawn))


def _tau_b(pairs: PairCounts) -> Floats:
    untied = (pairs.concordant + pairs.discordant).astype(np.float64)
    possible = (untied + pairs.tied_scores_only) * (untied + pairs.tied_labels_only)
    tau = (pairs.concordant - pairs.discordant) / np.sqrt(np.where(possible > 0, possible, np.nan))
    return np.clip(tau, -1.0, 1.0)


def kendall_c(labels: Floats, scores: Floats, groups: Groups) -> Floats:
    """Return Stuart's τ-c of each group: 2 (C - D) / (n² (k - 1) / k).

    C and D are the concordant and discordant pairs of the group's n rows, k the number of different labels
    or of different scores, whichever is smaller. Pairs tied on either side count nowhere. Where the two
    sides have different numbers of values, as labels of five steps and scores of many decimals, τ-c can
    reach 1, τ-b cannot.

    Parameters
    ----------
    labels, scores : (rows,) finite numbers, sorted by group. In every group at least two rows, of which
        neither the labels nor the scores are all equal; `Coefficient` sees to that.

    Returns (groups,) -1 to 1.

    Source: A. Stuart, "The estimation and comparison of strengths of association in contingency tables",
    Biometrika 40, 1953. The same as `scipy.stats.kendalltau` with variant "c".

    >>> kendall_c(np.array([0.0, 0.0, 1.0]), np.array([2.0, 3.0, 4.0]), Groups(np.array([3]))).round(6)
    array([0.888889])
    """
    fewest = np.minimum(_distinct(labels, groups), _distinct(scores, groups))
    return _tau_c(pair_counts(labels, scores, groups), groups.sizes, fewest)


def reweighted_kendall_c(rows: ReweightedRows) -> Callable[[Draws], Floats]:
    """Return a function from draws to the coefficient in each resample.

    The result is (groups, resamples), nan where it is undefined.
    """
    pairs = ReweightedPairs(rows)
    labels, scores = ValueCounts(rows, rows.label_codes), ValueCounts(rows, rows.score_codes)

    def values(drawn: Draws) -> Floats:
        fewest = np.minimum(labels.distinct(drawn), scores.distinct(drawn))
        return _tau_c(pairs(drawn), rows.sizes(drawn), fewest)

    return values


def _distinct(values: Floats, groups: Groups) -> Ints:
    """Return the number of distinct values of each group, (groups,)."""
    codes = value_codes(values, groups)
    return groups.largest(codes) - groups.smallest(codes) + 1


def _tau_c(pairs: PairCounts, sizes: Ints | Floats, fewest: Ints | Floats) -> Floats:
    possible = np.where(fewest > 1, sizes * sizes * (fewest - 1.0), np.nan)
    return 2 * fewest * (pairs.concordant - pairs.discordant) / possible
