"""The difference between two groups of raters in their answers to the same units."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from metaeval.stats.arrays import Floats, Ints, code_vector, number_vector, refuse_unequal_lengths
from metaeval.stats.labels.label_mean import MeanEstimate, label_mean

SIGNIFICANT = 0.01
"""Significance level, below .05 because several questions and pairs of groups are tested."""
DEFINITION = (
    "Two groups of raters differ in level if Welch's t-test finds a difference between their raters' mean"
    " deviations from the mean answer to a summary (p below .01, raters as units). They differ in judgement"
    " if the 95% t-interval, clustered by article, of the mean over summaries with two ratings or more by"
    " each group of (difference of the groups' means, less its mean)² − (squared standard errors of both"
    " means) lies above 0: that is 0 on average if both mean the same, whatever their noise."
)


@dataclass(frozen=True)
class GroupDifference:
    """The difference of a first group of raters from a second one."""

    level: float
    """Difference of the raters' mean deviations, in points; nan without two raters in each group."""
    level_p: float
    """Two-sided; nan where `level` is, and where no rater of a group deviates from another."""
    judgement: MeanEstimate
    """Mean squared difference in points², beyond noise and level; may be negative."""

    @property
    def differs_in_level(self) -> bool:
        return self.level_p < SIGNIFICANT

    @property
    def differs_in_judgement(self) -> bool:
        return self.judgement.interval.low > 0


def group_difference(
    units: npt.ArrayLike,
    raters: npt.ArrayLike,
    answers: npt.ArrayLike,
    in_first: npt.ArrayLike,
    articles: npt.ArrayLike,
) -> GroupDifference:
    """Return how the raters of one group differ from those of another (see `DEFINITION`).

    Parameters
    ----------
    units : (answers,) codes of units from 0.
    raters : (answers,) codes of raters from 0.
    answers : (answers,) numbers; an answer without one must be left out beforehand.
    in_first : (answers,) whether the rater is in the first group; all others are in the second.
    articles : (units,) codes; units of the same article are not independent. Negative = not known.

    The difference in judgement needs two units with two answers or more by each group. Its interval is
    undefined as `label_mean`'s is.

    Raises ValueError for unequal lengths and codes that are not whole numbers.

    Source: B. L. Welch, "The generalization of 'Student's' problem when several different population
    variances are involved", Biometrika 34, 1947.

    >>> first = group_difference(
    ...     [0] * 4 + [1] * 4, [0, 1, 2, 3] * 2, [4, 5, 2, 1, 2, 1, 4, 5], [1, 1, 0, 0] * 2, [0, 1])
    >>> first.level, first.judgement.value
    (0.0, 17.5)
    """
    unit, rater, article = (
        code_vector("units", units),
        code_vector("raters", raters),
        code_vector("articles", articles),
    )
    answer, first = number_vector("answers", answers), np.asarray(in_first, dtype=bool)
    refuse_unequal_lengths(units=unit, raters=rater, answers=answer, in_first=first)
    level, p_value = _level(unit, rater, answer, first, len(article))
    (n, mean, error), (n_other, mean_other, error_other) = (
        _moments(unit[side], answer[side], len(article)) for side in (first, ~first)
    )
    both = (n >= 2) & (n_other >= 2)
    squares = np.full(len(article), np.nan)
    if both.sum() >= 2:
        apart = (mean - mean_other)[both]
        factor = len(apart) / (len(apart) - 1)  # as for a variance, because the mean is taken out
        squares[both] = factor * (apart - apart.mean()) ** 2 - (error + error_other)[both]
    return GroupDifference(level, p_value, label_mean(squares, article))


def _level(
    unit: Ints, rater: Ints, answer: Floats, first: npt.NDArray[np.bool_], n_units: int
) -> tuple[float, float]:
    """Return the difference of the mean of the raters' mean deviations, and its p-value by Welch's test."""
    mean = np.bincount(unit, weights=answer, minlength=n_units) / np.maximum(
        np.bincount(unit, minlength=n_units), 1
    )
    deviation = answer - mean[unit]
    sides = []
    for side in (first, ~first):
        times = np.bincount(rater[side])
        present = times > 0
        if np.count_nonzero(present) < 2:
            return np.nan, np.nan
        of_raters = np.bincount(rater[side], weights=deviation[side])[present] / times[present]
        sides.append((of_raters.mean(), of_raters.var(ddof=1) / len(of_raters), len(of_raters)))
    (one, variance, n), (other, variance_other, n_other) = sides
    total = variance + variance_other
    if not total:
        return float(one - other), np.nan
    freedom = total**2 / (variance**2 / (n - 1) + variance_other**2 / (n_other - 1))
    return float(one - other), float(2 * stdtr(freedom, -abs(one - other) / np.sqrt(total)))


def _moments(unit: Ints, answer: Floats, n_units: int) -> npt.NDArray[np.float64]:
    """Return (3, units): the number of answers, their mean, and the mean's squared standard error."""
    n = np.bincount(unit, minlength=n_units).astype(np.float64)
    mean = np.bincount(unit, weights=answer, minlength=n_units) / np.maximum(n, 1)
    squares = np.bincount(unit, weights=(answer - mean[unit]) ** 2, minlength=n_units)
    return np.array([n, mean, squares / np.maximum(n - 1, 1) / np.maximum(n, 1)])
