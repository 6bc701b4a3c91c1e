"""The distribution of an evaluator's scores: distinct values and ties."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import number_vector


@dataclass(frozen=True)
class ScoreShape:
    """Counts and shares of scores. Shares are nan without scores, or without pairs of scores."""

    n: int
    missing: int
    distinct: int
    tied_pairs: float
    """Share of the pairs of summaries that have the same score: no rank correlation can order these."""
    tied_scores: float
    """Share of the summaries with the score of another."""
    most_common: float
    """The most common score; the lowest of several."""
    most_common_share: float
    lowest: float
    highest: float


def score_shape(scores: npt.ArrayLike) -> ScoreShape:
    """Return distinct values, ties and extremes of scores, (n,) with nan for none.

    -0.0 equals 0.0. Raises ValueError for infinite numbers.

    >>> score_shape([1.0, 1.0, 3.0, np.nan]).tied_pairs.__round__(3)
    0.333
    """
    given = number_vector("scores", scores)
    present = given[~np.isnan(given)]
    values, times = np.unique(present, return_counts=True)
    n = len(present)
    pairs = n * (n - 1) // 2
    return ScoreShape(
        n=n,
        missing=len(given) - n,
        distinct=len(values),
        tied_pairs=float((times * (times - 1) // 2).sum() / pairs) if pairs else np.nan,
        tied_scores=float(times[times > 1].sum() / n) if n else np.nan,
        most_common=float(values[times.argmax()]) if n else np.nan,
        most_common_share=float(times.max() / n) if n else np.nan,
        lowest=float(values[0]) if n else np.nan,
        highest=float(values[-1]) if n else np.nan,
    )
