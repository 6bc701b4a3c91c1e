"""Bounds of a coefficient over all possible values of missing scores."""

from dataclasses import dataclass, replace

import numpy as np

from metaeval.stats.arrays import Bools, Floats
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.paired import NO_LABEL, TIED_LABEL, nonzero
from metaeval.stats.correlation.roc_auc import yes_or_no
from metaeval.stats.rows import Rows
from metaeval.stats.scores.complete_rows import NO_PAIR
from metaeval.stats.scores.percentiles import percentiles

RANK_COEFFICIENTS = ("roc_auc", "spearman", "kendall_b")


@dataclass(frozen=True)
class MissingBounds:
    """The bounds; nan where there is a `reason`."""

    low: float
    high: float
    n: int
    """Summaries with a label."""
    missing: int
    """Labelled summaries without a score."""
    are_exact: bool
    """True if no values of the missing scores can lead beyond the ends."""
    definition: str
    left_out: dict[str, int]
    reason: str = ""


def missing_bounds(coefficient: str, rows: Rows) -> MissingBounds:
    """Return the pooled coefficient's bounds over values of the missing scores.

    For ROC AUC the ends are exact: each pair of a yes and a no counts by itself, so that all missing yeses
    above and all missing noes below every other score (or the reverse) is best (worst) for all pairs at once.
    This is the worst case of C. F. Manski, Partial Identification of Probability Distributions, 2003.

    For Spearman's ρ and Kendall's τ-b the ends are the highest and the lowest of four fillings: the missing
    scores of labels above the mean label lie above every present score, the others below, both in the order
    of their labels with ties where labels tie; each missing score is that quantile of the present ones which
    its label is of all labels; and the reverse of both. Other fillings may lead further.

    Parameters
    ----------
    coefficient : one of RANK_COEFFICIENTS; for others such as Pearson's r, whose missing scores could be of
        any size, there are no bounds but its own.
    rows : summaries without a label are left out, not filled. ROC AUC needs a yes/no question.

    Undefined without any summary that has both, and where the coefficient of a filling is.

    Raises ValueError for labels outside 0 to 1 of a yes/no question for ROC AUC.
    """
    by_majority = coefficient == "roc_auc" and rows.yes_no
    answers = yes_or_no(rows.labels) if by_majority else rows.labels
    left_out = nonzero(
        {
            NO_LABEL: int(np.isnan(rows.labels).sum()),
            TIED_LABEL: int((np.isnan(answers) & ~np.isnan(rows.labels)).sum()),
        }
    )
    labelled = ~np.isnan(answers)
    answers, score = answers[labelled], rows.scores[labelled]
    missing = np.isnan(score)
    result = MissingBounds(
        low=np.nan,
        high=np.nan,
        n=len(score),
        missing=int(missing.sum()),
        are_exact=coefficient == "roc_auc",
        definition=_DEFINITIONS[coefficient == "roc_auc"],
        left_out=left_out,
    )
    reason = ""
    low = high = np.nan
    if coefficient not in RANK_COEFFICIENTS:
        reason = "missing scores of any size could make this coefficient anything"
    elif coefficient == "roc_auc" and not rows.yes_no:
        reason = f"{COEFFICIENTS[coefficient].label} needs a yes/no question"
    elif missing.all():
        reason = NO_PAIR
    else:
        measure = COEFFICIENTS[coefficient]
        fillings = [fill(order, score, missing) for fill in FILLINGS for order in (answers, -answers)]
        found = [measure.of(answers, filling) for filling in fillings]
        reason = next((each.reason for each in found if each.reason), "")
        if not reason:
            low, high = min(each.value for each in found), max(each.value for each in found)
    return replace(result, low=low, high=high, reason=reason)


def _outside(labels: Floats, scores: Floats, missing: Bools) -> Floats:
    """Fill missing scores above and below all others, in the order of `labels`."""
    present = np.unique(scores[~missing])
    ranks = np.zeros(len(scores))
    ranks[~missing] = np.searchsorted(present, scores[~missing])
    order = np.unique(labels, return_inverse=True)[1].astype(np.float64)
    reach = len(present) + len(labels)
    ranks[missing] = order[missing] + np.where(labels > labels.mean(), reach, -reach)[missing]
    return ranks


def _matched(labels: Floats, scores: Floats, missing: Bools) -> Floats:
    """Fill each missing score with the quantile of the others that its label has among labels."""
    filled = scores.copy()
    filled[missing] = np.quantile(scores[~missing], percentiles(labels)[missing])
    return filled


FILLINGS = (_outside, _matched)
_DEFINITIONS = {
    True: "Exact: all missing scores of yeses above, all of noes below every other score, and the reverse. No"
    " scores in their place can lead beyond.",
    False: "The highest and the lowest of four fillings: missing scores of labels above the mean label lie"
    " above every other score, the rest below, in the order of their labels; each missing score is that"
    " quantile of the others which its label is of all labels; and the reverse of both. Other fillings may"
    " lead further.",
}
