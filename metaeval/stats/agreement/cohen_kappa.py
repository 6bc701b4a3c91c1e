"""Cohen's kappa: agreement of two raters beyond chance, or its mean over pairs of raters."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from metaeval.stats.agreement.agreement_counts import FEWER_THAN_TWO, NOT_PAIRABLE
from metaeval.stats.agreement.answer_numbers import answer_numbers, unit_range
from metaeval.stats.agreement.count_statistic import ratio
from metaeval.stats.agreement.rated_pairs import pairable_ratings, rater_pairs
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.result import Agreement

ALWAYS_ONE_ANSWER = "every pair of raters gave the same answer to all summaries they share (0/0)"

WEIGHTS: dict[str, str] = {
    "none": "two different answers disagree 1",
    "quadratic": "two answers disagree by the square of their difference",
}
"""Name -> the disagreement of two answers, in words."""


def cohen_kappa(
    units: npt.ArrayLike,
    raters: npt.ArrayLike,
    answers: npt.ArrayLike,
    *,
    n_answers: int,
    weights: str = "none",
    numbers: npt.ArrayLike | None = None,
) -> Agreement:
    """Return Cohen's kappa of two raters, or the mean over all pairs of raters.

    Kappa is 1 - observed / expected disagreement.

    Of two raters, over the units that both rated: observed is the mean of v_kl over their answers k and l;
    expected is sum_kl p_k q_l v_kl, with p and q the shares of answers of the one and of the other on these
    units. v is 1 for two different answers, or with weights the square of their difference.
    Of more raters: the mean of the kappas of all pairs of raters, each weighted by the units that both rated.

    Parameters
    ----------
    units, raters, answers : (ratings,) codes; answers 0 to n_answers - 1, in ascending order if weighted. A
        missing rating has no entry: who rated what may be any pattern.
    weights : one of `WEIGHTS`.
    numbers : (answers,) the number that each answer stands for, ascending; if absent, their places.

    The result is 1 at perfect agreement, 0 at chance. Undefined without two ratings of one unit. A pair of
    raters who gave one and the same answer to all they both rated leaves 0/0: it is left out of the mean, and
    where all pairs are such the value is undefined.

    Raises ValueError for unknown `weights`; a rater who rated a unit twice; codes or numbers that do not fit.

    Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological
    Measurement 20, 1960; weighted: Psychological Bulletin 70, 1968. The mean over pairs of raters is
    R. J. Light's (Psychological Bulletin 76, 1971), here weighted by what each pair has in common.

    >>> round(cohen_kappa([0, 0, 1, 1, 2, 2], [0, 1] * 3, [1, 1, 0, 0, 1, 0], n_answers=2).value, 6)
    0.4
    """
    if weights not in WEIGHTS:
        raise ValueError(f"weights {weights!r} do not exist: choose from {', '.join(WEIGHTS)}")
    places = unit_range(answer_numbers("nominal", numbers, n_answers))
    ratings = pairable_ratings(units, raters, answers, n_answers=n_answers)
    pairs = rater_pairs(ratings)
    one, other = ratings.answers[pairs.first], ratings.answers[pairs.second]
    common = np.bincount(pairs.pair, minlength=pairs.n_pairs).astype(np.float64)
    observed = np.bincount(
        pairs.pair, weights=_DISAGREEMENT[weights](places[one] - places[other]), minlength=pairs.n_pairs
    )
    given = _answer_counts(pairs.pair, one, pairs.n_pairs, n_answers)
    given_by_other = _answer_counts(pairs.pair, other, pairs.n_pairs, n_answers)
    expected = _EXPECTED[weights](given, given_by_other, places)
    several = _by_difference(given, given_by_other, places) > 0  # exact, as sums of squares are not
    # As sums over the pair's n units: observed is n times the mean, expected n^2 times.
    kappas = 1 - ratio(observed * common, np.where(several, expected, 0.0))
    defined = ~np.isnan(kappas)
    reason = ""
    if not pairs.n_pairs:
        reason = NOT_PAIRABLE
    elif not defined.any():
        reason = ALWAYS_ONE_ANSWER
    left_out = {FEWER_THAN_TWO: ratings.left_out} if ratings.left_out else {}
    if not reason and not defined.all():
        left_out["pairs of raters with the same answer throughout"] = int((~defined).sum())
    return Agreement(
        value=float(np.average(kappas[defined], weights=common[defined])) if not reason else np.nan,
        units=ratings.n_units,
        ratings=len(ratings.units),
        definition="Cohen's κ: 1 − observed / expected disagreement of two raters over the summaries that"
        f" both rated, where {WEIGHTS[weights]} and chance keeps how often each of the two gives each"
        " answer; the mean over pairs of raters, each weighted by the summaries it has in common.",
        left_out=left_out,
        reason=reason,
    )


def _answer_counts(pair: Ints, answers: Ints, n_pairs: int, n_answers: int) -> sparse.csr_array:
    """Return how often one rater of each pair gave each answer, sparse (pairs, answers)."""
    return sparse.csr_array((np.ones(len(pair)), (pair, answers)), shape=(n_pairs, n_answers))


def _by_difference(one: sparse.csr_array, other: sparse.csr_array, _places: Floats) -> Floats:
    common: Floats = one.sum(axis=1) * other.sum(axis=1)
    return common - one.multiply(other).sum(axis=1)


def _by_square(one: sparse.csr_array, other: sparse.csr_array, places: Floats) -> Floats:
    n, m = one.sum(axis=1), other.sum(axis=1)
    mean, mean_other = one @ places / n, other @ places / m
    spread = (one @ places**2 / n - mean**2) + (other @ places**2 / m - mean_other**2)
    return n * m * (spread + (mean - mean_other) ** 2)


_DISAGREEMENT: dict[str, Callable[[Floats], Floats]] = {
    "none": lambda differences: (differences != 0).astype(np.float64),
    "quadratic": np.square,
}
_EXPECTED: dict[str, Callable[[sparse.csr_array, sparse.csr_array, Floats], Floats]] = {
    "none": _by_difference,
    "quadratic": _by_square,
}
