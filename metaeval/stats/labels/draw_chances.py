"""The chance that each summary has been drawn by now, where some come earlier than others on average."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Bools, Floats, number_vector
from metaeval.stats.scores.percentiles import percentiles

LEAST_WEIGHT = 0.5
"""Weight of a summary about which there is no doubt; the mean weight is 1.

Scores can be wrong about doubts, and a label with a small chance counts for many. With 0.2 the order saved
14% of the ratings instead of 11% where scores were right, and cost 20% instead of 6% where they were useless
(`benchmarks/priority.py`).
"""


def draw_weights(scores: Sequence[Floats]) -> Floats:
    """Return weights that grow with the doubt that `scores` leave about each label, (n,), with a mean of 1.

    Parameters
    ----------
    scores : (n,) each, nan for none. One evaluator's are chances of yes, and the doubt is the standard
        deviation root of p (1 - p) of the label. The doubt that several evaluators leave is the standard
        deviation of their percentiles among all summaries.

    A summary without a score, or with fewer than two of several, has a mean doubt. Weights are
    LEAST_WEIGHT + (1 - LEAST_WEIGHT) * doubt / mean doubt.

    Raises ValueError for a single evaluator with scores below 0 or above 1, and where there is no doubt.

    Source: the chance that is proportional to the standard deviation makes the variance least (J. Neyman,
    "On the two different aspects of the representative method", 1934); mixed with even chances as in T. Zrnic
    and E. J. Candes, "Active statistical inference", ICML 2024 (arXiv 2403.03208), section 6.

    >>> draw_weights([np.array([0.5, 0.9, 1.0, np.nan])])
    array([1.4375, 1.0625, 0.5   , 1.    ])
    """
    if len(scores) == 1:
        chance = scores[0]
        if (chance < 0).any() or (chance > 1).any():
            raise ValueError("scores below 0 or above 1 are no chances of yes")
        doubts = np.sqrt(chance * (1 - chance))
    else:
        ranked = np.array([percentiles(each) for each in scores])
        known = (~np.isnan(ranked)).sum(axis=0) >= 2
        doubts = np.full(ranked.shape[1], np.nan)
        doubts[known] = np.nanstd(ranked[:, known], axis=0)
    mean = float(np.nanmean(doubts)) if (~np.isnan(doubts)).any() else 0.0
    if mean == 0:
        raise ValueError("the scores leave no doubt about any summary")
    return LEAST_WEIGHT + (1 - LEAST_WEIGHT) * np.where(np.isnan(doubts), mean, doubts) / mean


def draw_chances(places: Floats, weights: Floats, is_waiting: Bools) -> Floats:
    """Return each summary's chance of having been drawn, (n,); nan for those that come later.

    Summaries come by ascending place 1 - (1 - u)^(1/w), with u uniform from 0 to 1 and w the weight, so that
    each draw picks one of those left with a probability proportional to its weight. With t the lowest place
    that still waits, a summary has come by now with the chance P(place < t) = 1 - (1 - t)^w, whatever the
    places of the others; 1 if none waits. Sums of labels over their chances are unbiased.

    Parameters
    ----------
    places, weights : (n,) places from 0 to below 1, weights above 0.
    is_waiting : (n,) whether nobody has been given the summary yet.

    Source: E. Cohen and H. Kaplan, "Summarizing data using bottom-k sketches", PODC 2007: rank conditioning,
    with ranks that are exponentially distributed.

    >>> draw_chances(np.array([0.1, 0.2, 0.5]), np.array([1, 2, 1]), np.array([False, False, True])).round(3)
    array([0.5 , 0.75,  nan])
    """
    threshold = float(places[is_waiting].min()) if is_waiting.any() else 1.0
    chances = -np.expm1(weights * np.log1p(-threshold)) if threshold < 1 else np.ones(len(places))
    return np.where(places < threshold, chances, np.nan)


def chance_vector(chances: npt.ArrayLike | None, n: int) -> Floats:
    """Return the chances as an array (n,), of ones for None.

    Raises ValueError unless there are n of them, each nan or above 0 and at most 1.
    """
    if chances is None:
        return np.ones(n)
    found = number_vector("chances", chances)
    if len(found) != n:
        raise ValueError(f"chances: found {len(found)}, expected {n}")
    if not (np.isnan(found) | ((found > 0) & (found <= 1))).all():
        raise ValueError("chances: expected numbers above 0 and at most 1, or nan")
    return found
