"""Learning a map from scores to labels so that no article's labels shape what is said of its summaries."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A summary's score by some evaluator, higher being better, and its human label in [0, 1]."""

    article_id: str
    score: float
    label: float


class Fit(Protocol):
    """What was learnt: score -> what is said of it."""

    def __call__(self, score: float) -> float: ...


def folds_of(article_ids: Iterable[str], folds: int, seed: int) -> dict[str, int]:
    """Article -> its fold, from 0 to folds - 1; sizes differ by one article at most.

    In an order drawn with `seed` the articles are dealt out in turn; their labels play no part.
    """

    def place(article_id: str) -> str:
        return sha256(f"{seed}\x1f{article_id}".encode()).hexdigest()

    ordered = sorted(set(article_ids), key=place)
    return {article_id: index % folds for index, article_id in enumerate(ordered)}


def without_fold(labelled: Sequence[Labelled], fold: int | None, of: Mapping[str, int]) -> list[Labelled]:
    """All of `labelled` but what belongs to `fold`; all of it for None."""
    return [each for each in labelled if of[each.article_id] != fold]


@dataclass(frozen=True, eq=False)
class Isotonic:
    """The rising step function nearest to the labels in squares, on a straight line between its points.

    Below the lowest score known and above the highest it stays level, so it never leaves the labels' range.
    """

    scores: "Floats"
    """Distinct, ascending."""
    labels: "Floats"
    """Fitted; never falling."""

    @classmethod
    def of(cls, labelled: Sequence[Labelled]) -> "Isotonic":
        """Equal scores count as one with their mean label, weighted by their number.

        Source: R. E. Barlow et al., Statistical Inference under Order Restrictions, 1972; by
        `scipy.optimize.isotonic_regression`. Raises ValueError for nothing.
        """
        import numpy as np
        from scipy.optimize import isotonic_regression

        if not labelled:
            raise ValueError("no labels to fit to")
        scores, place, counts = np.unique(
            np.array([each.score for each in labelled]), return_inverse=True, return_counts=True
        )
        means = np.bincount(place, weights=[each.label for each in labelled]) / counts
        return cls(scores, isotonic_regression(means, weights=counts).x)

    def __call__(self, score: float) -> float:
        import numpy as np

        return float(np.interp(score, self.scores, self.labels))


@dataclass(frozen=True)
class Cut:
    """1 for scores from `at` on, 0 below."""

    at: float

    @classmethod
    def of(cls, labelled: Sequence[Labelled], good_from: float) -> "Cut":
        """Where balanced accuracy is best: the mean of the shares decided rightly among good and bad.

        Good are labels of `good_from` or more. A cut lies half-way between two neighbouring scores; of
        equally good ones the lowest counts. Raises ValueError unless there are good and bad ones.
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

        return cls(max(cuts, key=balanced_accuracy))

    def __call__(self, score: float) -> float:
        return float(score >= self.at)
