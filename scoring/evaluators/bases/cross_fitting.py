"""Cross-fitting by article: maps from scores to labels that never see a summary's own article."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class LabelledScore:
    """A summary's score by some evaluator, higher being better, and its human label in [0, 1]."""

    article_id: str
    score: float
    label: float


Fit = Callable[[float], float]
"""A fitted map: score -> calibrated value."""


def folds_of(article_ids: Iterable[str], folds: int, seed: int) -> dict[str, int]:
    """Return article -> its fold, from 0 to folds - 1, with sizes that differ by at most one.

    Articles are dealt to folds in an order drawn with `seed`, whatever their labels.
    """

    def place(article_id: str) -> str:
        return sha256(f"{seed}\x1f{article_id}".encode()).hexdigest()

    ordered = sorted(set(article_ids), key=place)
    return {article_id: index % folds for index, article_id in enumerate(ordered)}


def without_fold(
    labelled: Sequence[LabelledScore], fold: int | None, of: Mapping[str, int]
) -> list[LabelledScore]:
    """Return `labelled` without the articles of `fold`; all of it for None."""
    return [each for each in labelled if of[each.article_id] != fold]


def isotonic(labelled: Sequence[LabelledScore]) -> Fit:
    """Fit an isotonic regression of labels on scores, with linear interpolation.

    It is constant below the lowest and above the highest known score, so it stays in the labels' range. Equal
    scores count as one with their mean label, weighted by their number.

    Source: R. E. Barlow et al., Statistical Inference under Order Restrictions, 1972; by
    `scipy.optimize.isotonic_regression`. Raises ValueError without labels.
    """
    import numpy as np
    from scipy.optimize import isotonic_regression

    if not labelled:
        raise ValueError("no labels to fit to")
    scores, place, counts = np.unique(
        np.array([each.score for each in labelled]), return_inverse=True, return_counts=True
    )
    means = np.bincount(place, weights=[each.label for each in labelled]) / counts
    labels = isotonic_regression(means, weights=counts).x
    return lambda score: float(np.interp(score, scores, labels))


def best_cut(labelled: Sequence[LabelledScore], good_from: float) -> float:
    """Return the cut with the best balanced accuracy: the mean of the shares correct among good and bad.

    Labels of `good_from` or more are good; scores from the cut on are taken for good. It lies midway between
    two neighbouring scores; the lowest of equally good ones counts. Raises ValueError unless there are good
    and bad labels.
    """
    good = sorted(each.score for each in labelled if each.label >= good_from)
    bad = sorted(each.score for each in labelled if each.label < good_from)
    if not good or not bad:
        raise ValueError(f"all labels are {'below' if bad else 'at or above'} {good_from:g}")
    scores = sorted({*good, *bad})
    cuts = [scores[0], *((one + two) / 2 for one, two in pairwise(scores))]

    def balanced_accuracy(cut: float) -> float:
        missed, rejected = bisect_left(good, cut), bisect_left(bad, cut)
        return ((len(good) - missed) / len(good) + rejected / len(bad)) / 2

    return max(cuts, key=balanced_accuracy)
