"""Spearman's rank correlation ρ."""

from collections.abc import Callable

from metaeval.stats.arrays import Floats
from metaeval.stats.correlation.pearson import pearson_with
from metaeval.stats.groups import Groups
from metaeval.stats.ranks import midranks


def spearman(labels: Floats, scores: Floats, groups: Groups) -> Floats:
    """Return Spearman's ρ of each group: Pearson's r of the mid-ranks.

    Parameters
    ----------
    labels, scores : (rows,) finite numbers, sorted by group. In every group at least two rows, of which
        neither the labels nor the scores are all equal; `Coefficient` sees to that.

    Returns (groups,) -1 to 1.

    Source: C. Spearman, "The proof and measurement of association between two things", American Journal of
    Psychology 15, 1904; ties as in M. G. Kendall, "Rank Correlation Methods", 1948, chapter 3.

    >>> import numpy as np
    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([2.0, 9.0, 4.0]), Groups(np.array([3])))
    array([0.5])
    """
    return spearman_with(labels, groups)(scores)


def spearman_with(labels: Floats, groups: Groups) -> Callable[[Floats], Floats]:
    """Return a function from one evaluator's scores to `spearman` with these labels."""
    of_ranks = pearson_with(midranks(labels, groups), groups)
    return lambda scores: of_ranks(midranks(scores, groups))
