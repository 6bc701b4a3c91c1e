"""Cross-fitting by article: maps from scores to labels that never see a summary's own article."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class LabelledScore:
    """A summary's score by some evaluator, higher being better, and its human label in [0, 1]."""

    article: str
    """Names the article, as `SameArticles.names` does."""
    score: float
    label: float


Fit = Callable[[float], float]
"""A fitted map: score -> calibrated value."""


_ID, _TEXT = "id", "text"
_Mark = tuple[str, str]
"""One of the two, and an id or a digest."""


class SameArticles:
    """Groups of ids and texts of one article: the same id, or the same text under another id."""

    def __init__(self, articles: Iterable[tuple[str, str]]) -> None:
        """Take pairs of an article's id and its `text_digest`, empty if the text is not known."""
        joined: dict[_Mark, set[_Mark]] = {}
        for article_id, digest in set(articles):
            same = set(_marks(article_id, digest))
            same = same.union(*(joined.get(mark, ()) for mark in same))
            joined.update(dict.fromkeys(same, same))
        self._names = {mark: min(text for kind, text in same if kind == _ID) for mark, same in joined.items()}

    def names(self, article_id: str, digest: str) -> set[str]:
        """Return the lowest id of each article that has this id or text: none, one, or two if they differ."""
        return {self._names[mark] for mark in _marks(article_id, digest) if mark in self._names}


def folds_of(articles: Iterable[str], folds: int, seed: int) -> dict[str, int]:
    """Return article -> its fold, from 0 to folds - 1, with sizes that differ by at most one.

    Articles are dealt to folds in an order drawn with `seed`, whatever their labels.
    """

    def place(article: str) -> str:
        return sha256(f"{seed}\x1f{article}".encode()).hexdigest()

    ordered = sorted(set(articles), key=place)
    return {article: index % folds for index, article in enumerate(ordered)}


def without_fold(
    labelled: Sequence[LabelledScore], fold: int | None, of: Mapping[str, int]
) -> list[LabelledScore]:
    """Return `labelled` without the articles of `fold`; all of it for None."""
    return [each for each in labelled if of[each.article] != fold]


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


def _marks(article_id: str, digest: str) -> list[_Mark]:
    return [(_ID, article_id), *([(_TEXT, digest)] if digest else [])]
