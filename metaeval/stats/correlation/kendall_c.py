"""Stuart's rank correlation τ-c."""

from collections.abc import Callable

import numpy as np

from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.correlation.pair_counts import PairCounts, pair_counts
from metaeval.stats.correlation.reweighted_pairs import ReweightedPairs
from metaeval.stats.correlation.reweighted_rows import Alike, Drawn, ReweightedRows
from metaeval.stats.groups import Groups
from metaeval.stats.ranks import value_codes


def kendall_c(labels: Floats, scores: Floats, groups: Groups) -> Floats:
    """Stuart's τ-c of each group: 2 (C - D) / (n² (k - 1) / k).

    C and D are the concordant and discordant pairs of the group's n rows, k the number of different labels
    or of different scores, whichever is smaller. Pairs tied on either side count nowhere. Where the two
    sides have different numbers of values, as labels of five steps and scores of many decimals, τ-c can
    reach 1, τ-b cannot.

    Parameters
    ----------
    labels, scores : (rows,) finite numbers, sorted by group. In every group at least two rows, of which
        neither the labels nor the scores are all equal; `Coefficient` sees to that.

    Returns
    -------
    (groups,) -1 to 1.

    Source: A. Stuart, "The estimation and comparison of strengths of association in contingency tables",
    Biometrika 40, 1953. The same as `scipy.stats.kendalltau` with variant "c".

    >>> kendall_c(np.array([0.0, 0.0, 1.0]), np.array([2.0, 3.0, 4.0]), Groups(np.array([3]))).round(6)
    array([0.888889])
    """
    fewest = np.minimum(_distinct(labels, groups), _distinct(scores, groups))
    return _of_pairs(pair_counts(labels, scores, groups), groups.sizes, fewest)


def reweighted_kendall_c(rows: ReweightedRows) -> Callable[[Drawn], Floats]:
    """The same for resamples: how often each unit was drawn, to (groups, resamples), nan where undefined."""
    pairs = ReweightedPairs(rows)
    labels, scores = Alike(rows, rows.label_codes), Alike(rows, rows.score_codes)

    def values(drawn: Drawn) -> Floats:
        fewest = np.minimum(labels.distinct(drawn), scores.distinct(drawn))
        return _of_pairs(pairs(drawn), rows.sizes(drawn), fewest)

    return values


def _distinct(values: Floats, groups: Groups) -> Ints:
    """(groups,) how many different values each group has."""
    codes = value_codes(values, groups)
    return groups.largest(codes) - groups.smallest(codes) + 1


def _of_pairs(pairs: PairCounts, sizes: Ints | Floats, fewest: Ints | Floats) -> Floats:
    possible = np.where(fewest > 1, sizes * sizes * (fewest - 1.0), np.nan)
    return 2 * fewest * (pairs.concordant - pairs.discordant) / possible
