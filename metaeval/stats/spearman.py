"""Spearman's rank correlation ρ."""

from metaeval.stats.arrays import Floats
from metaeval.stats.groups import Groups
from metaeval.stats.pearson import pearson
from metaeval.stats.ranks import midranks


def spearman(labels: Floats, scores: Floats, groups: Groups) -> Floats:
    """Spearman's ρ of each group: Pearson's r of the mid-ranks; equal values share the mean of their ranks.

    Parameters
    ----------
    labels, scores : (rows,) finite numbers, sorted by group. In every group at least two rows, of which
        neither the labels nor the scores are all equal; `Coefficient` sees to that.

    Returns
    -------
    (groups,) -1 to 1.

    Source: C. Spearman, "The proof and measurement of association between two things", American Journal of
    Psychology 15, 1904; ties as in M. G. Kendall, "Rank Correlation Methods", 1948, chapter 3.

    >>> import numpy as np
    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([2.0, 9.0, 4.0]), Groups(np.array([3])))
    array([0.5])
    """
    return pearson(midranks(labels, groups), midranks(scores, groups), groups)
