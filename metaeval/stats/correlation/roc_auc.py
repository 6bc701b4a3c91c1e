"""Area under the ROC curve, for yes/no questions."""

from collections.abc import Callable

import numpy as np

from metaeval.stats.arrays import Floats
from metaeval.stats.correlation.reweighted_pairs import ReweightedPairs
from metaeval.stats.correlation.reweighted_rows import Draws, ReweightedRows
from metaeval.stats.groups import Groups
from metaeval.stats.ranks import midranks


def roc_auc(labels: Floats, scores: Floats, groups: Groups) -> Floats:
    """Return ROC AUC of each group: P(score of a yes > score of a no) + P(equal) / 2.

    Computed from the rank sum of the yeses (Mann-Whitney): (R - Y(Y + 1)/2) / (Y N), with Y yeses, N noes
    and R the sum of the yeses' mid-ranks. Scores that are all equal give 0.5, as they should.

    Parameters
    ----------
    labels : (rows,) exactly 0 (no) or 1 (yes), sorted by group; `yes_or_no` makes them from means over
        raters. In every group both occur; `Coefficient` sees to that.
    scores : (rows,) finite numbers.

    Returns (groups,) 0 to 1.

    Raises ValueError for a label other than 0 and 1.

    Source: J. A. Hanley & B. J. McNeil, "The meaning and use of the area under a receiver operating
    characteristic (ROC) curve", Radiology 143, 1982.

    >>> roc_auc(np.array([0.0, 1.0, 0.0]), np.array([0.1, 0.7, 0.7]), Groups(np.array([3])))
    array([0.75])
    """
    neither = (labels != 0) & (labels != 1)
    if neither.any():
        raise ValueError(f"ROC AUC needs labels that are 0 or 1, not {labels[neither.argmax()]}")
    yeses = groups.total(labels)
    rank_sum = groups.total(midranks(scores, groups) * labels)
    return (rank_sum - yeses * (yeses + 1) / 2) / (yeses * (groups.sizes - yeses))


def reweighted_roc_auc(rows: ReweightedRows) -> Callable[[Draws], Floats]:
    """Return a function from draws to the coefficient in each resample.

    The result is (groups, resamples), nan where it is undefined.
    """
    count_pairs = ReweightedPairs(rows)

    def values(drawn: Draws) -> Floats:
        pairs = count_pairs(drawn)
        of_yes_and_no = pairs.concordant + pairs.discordant + pairs.tied_scores_only
        right = pairs.concordant + pairs.tied_scores_only / 2
        return right / np.where(of_yes_and_no > 0, of_yes_and_no, np.nan)

    return values


def yes_or_no(labels: Floats) -> Floats:
    """Return the majority's answer: 1 above 0.5, 0 below, nan for a tie or no label.

    Parameters
    ----------
    labels : means over raters of Yes = 1 and No = 0, or nan where there is no label.

    Raises ValueError for a label outside 0 to 1, which is no mean of yeses and noes.
    """
    outside = (labels < 0) | (labels > 1)
    if outside.any():
        at = int(outside.argmax())
        raise ValueError(f"labels[{at}] is {labels[at]}: a yes/no question's label lies between 0 and 1")
    answers = np.where(labels > 0.5, 1.0, 0.0)
    answers[np.isnan(labels) | (labels == 0.5)] = np.nan
    return answers
