"""Split-half correlation: how well half of a summary's raters predict the other half."""

import numpy as np
import numpy.typing as npt

from metaeval.stats.agreement.agreement_counts import FEWER_THAN_TWO, NOT_PAIRABLE
from metaeval.stats.agreement.rated_pairs import Ratings, by_size, pairable_ratings
from metaeval.stats.arrays import Floats, number_vector
from metaeval.stats.result import Agreement

ONE_MEAN = "in every split the means of a half are equal for all summaries"
TOO_FEW = "fewer than two summaries have two ratings or more"


def split_half(
    units: npt.ArrayLike,
    raters: npt.ArrayLike,
    numbers: npt.ArrayLike,
    *,
    splits: int = 50,
    seed: int = 0,
) -> Agreement:
    """Return Pearson's r between the mean ratings of two random halves of raters, averaged over splits.

    Each unit's raters are split again each time: m // 2 of its m ratings make one half, the others the other,
    and which half comes first is random too. r is taken over all units.

    It is not stepped up by the Spearman-Brown formula, which assumes halves of equal size and the same number
    of ratings for every unit. So it says what means of half as many ratings share, and an evaluator compared
    with means of all ratings can exceed it.

    Parameters
    ----------
    units, raters : (ratings,) codes, which may be any. A missing rating has no entry.
    numbers : (ratings,) the number that each rating's answer stands for; nan for an answer without one, which
        is left out like a missing rating.
    splits : how many; seed : for `numpy.random.default_rng`.

    The result lies from -1 to 1. Splits in which the means of a half are all equal are left out of the mean.
    Undefined with fewer than two units of two ratings, and where all splits are left out.

    Raises ValueError for a rater who rated a unit twice; unequal lengths; codes that are not whole numbers.

    Source: as a ceiling for evaluators e.g. by Koto et al., Findings of ACL 2021 (one annotator against the
    others); why halves underrate the whole, C. Spearman and W. Brown, British Journal of Psychology 3, 1910.

    >>> round(split_half([0, 0, 1, 1, 2, 2], [0, 1] * 3, [1, 1, 2, 2, 3, 3]).value, 6)
    1.0
    """
    given = number_vector("numbers", numbers)
    counted = ~np.isnan(given)
    ratings = pairable_ratings(
        np.asarray(units)[counted],
        np.asarray(raters)[counted],
        np.flatnonzero(counted),
        n_answers=len(given),
    )
    value, reason = np.nan, ""
    if not ratings.n_units:
        reason = NOT_PAIRABLE
    elif ratings.n_units < 2:
        reason = TOO_FEW
    else:
        found = _correlations(
            ratings, _within_one(given[ratings.answers]), splits, np.random.default_rng(seed)
        )
        if found.size:
            value = float(found.mean())
        else:
            reason = ONE_MEAN
    return Agreement(
        value=value,
        units=ratings.n_units,
        ratings=len(ratings.units),
        definition="Split-half correlation: each summary's raters are split at random into halves (of an odd"
        " number, one half has one more); Pearson's r, over summaries with two ratings or more, of the two"
        f" halves' mean ratings; the mean of {splits:,} splits, seed {seed}. Not stepped up (Spearman–Brown):"
        " numbers of ratings differ.",
        left_out={FEWER_THAN_TWO: ratings.left_out} if ratings.left_out else {},
        reason=reason,
    )


def _within_one(numbers: Floats) -> Floats:
    """Scale to 0 to 1, so that squares stay in double precision. No correlation changes."""
    low, high = numbers.min(), numbers.max()
    return (numbers - low) / (high - low if high > low else 1.0)


def _correlations(ratings: Ratings, numbers: Floats, splits: int, rng: np.random.Generator) -> Floats:
    """Return Pearson's r of every split in which it is defined."""
    sizes = [_in_order(numbers[places]) for places in by_size(ratings)]
    # Means of the same answers may differ in the last digit, as the sums are rounded.
    noise = ratings.n_units * 1e-12**2
    found = []
    for _ in range(splits):
        halves = np.concatenate([_half_means(rng.permuted(of_size, axis=1), rng) for of_size in sizes])
        deviations = halves - np.full(len(halves), 1 / len(halves)) @ halves
        products = deviations.T @ deviations
        squares = np.diag(products)
        if (squares > noise).all():
            found.append(products[0, 1] / np.sqrt(squares.prod()))
    return np.array(found)


def _in_order(numbers: Floats) -> Floats:
    """Sort the ratings of each unit, then the units, so that the draws do not depend on anybody's codes.

    `numbers` is (units, m).
    """
    of_unit = np.sort(numbers, axis=1)
    return of_unit[np.lexsort(of_unit.T[::-1])]


def _half_means(shuffled: Floats, rng: np.random.Generator) -> Floats:
    """Return the means of the first m // 2 columns and of the others, (units, 2), in random order.

    `shuffled` is (units, m).
    """
    m = shuffled.shape[1]
    is_first = np.arange(m) < m // 2
    sums = shuffled @ np.stack([is_first, ~is_first], axis=1).astype(np.float64)
    means = sums / [m // 2, m - m // 2]
    return means if m % 2 == 0 else rng.permuted(means, axis=1)
