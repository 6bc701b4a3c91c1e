"""Krippendorff's alpha: agreement between raters beyond what chance would give."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.agreement_counts import NOT_PAIRABLE, pairable
from metaeval.stats.arrays import Floats, number_vector
from metaeval.stats.result import Agreement

ONE_ANSWER = "all ratings that can be compared give the same answer, so chance would agree fully too (0/0)"


class Scale(NamedTuple):
    """How far apart two answers are."""

    distances: Callable[[Floats, Floats], Floats]
    """From each answer's total and number, both (answers,), the distances, (answers, answers)."""
    definition: str


def _nominal(totals: Floats, _numbers: Floats) -> Floats:
    return 1.0 - np.eye(len(totals))


def _ordinal(totals: Floats, _numbers: Floats) -> Floats:
    # The ratings from the middle of c to the middle of k: sum_{g=c..k} n_g - (n_c + n_k)/2.
    middle = np.cumsum(totals) - totals / 2
    return np.subtract.outer(middle, middle) ** 2


def _interval(_totals: Floats, numbers: Floats) -> Floats:
    return np.subtract.outer(numbers, numbers) ** 2


SCALES: dict[str, Scale] = {
    "nominal": Scale(_nominal, "the distance of two different answers is 1"),
    "ordinal": Scale(
        _ordinal,
        "the distance of two answers is the square of the number of ratings between the middle of the one"
        " and the middle of the other",
    ),
    "interval": Scale(_interval, "the distance of two answers is the square of their difference"),
}


def krippendorff_alpha(counts: npt.ArrayLike, scale: str, numbers: npt.ArrayLike | None = None) -> Agreement:
    """Krippendorff's alpha: 1 - observed / expected disagreement.

    Over units with m_u >= 2 ratings: observed o_ck = sum_u (ordered pairs of ratings c, k in u) / (m_u - 1);
    n_c = sum_k o_ck, n = sum_c n_c; expected e_ck = n_c (n_k - [c = k]) / (n - 1);
    alpha = 1 - sum o_ck d_ck / sum e_ck d_ck, with d the distance of the scale.

    Parameters
    ----------
    counts : (units, answers) how often each unit got each answer, from `agreement_counts`. Any number of
        ratings per unit. On an ordinal scale the answers stand in ascending order.
    scale : one of `SCALES`.
    numbers : (answers,) the number that each answer stands for, ascending; only the interval scale needs it.

    Returns
    -------
    1 at perfect agreement, 0 at chance, below 0 at worse than chance. Undefined without any unit of two
    ratings, and when the ratings of all such units give one and the same answer: no disagreement is expected
    then, which leaves 0/0. On that case packages differ: nltk says 1, PyPI krippendorff raises an error,
    simpledorff divides by zero.

    Raises
    ------
    ValueError : a scale that does not exist; `numbers` missing for the interval scale, or not one number per
        answer in ascending order; `counts` not a table of whole numbers of 0 or more.

    Source: K. Krippendorff, "Computing Krippendorff's alpha-reliability", 2011.

    >>> round(krippendorff_alpha([[2, 0], [0, 2], [1, 1]], "nominal").value, 6)
    0.444444
    """
    if scale not in SCALES:
        raise ValueError(f"scale {scale!r} does not exist: choose from {', '.join(SCALES)}")
    table, left_out = pairable(counts)
    answer_numbers = _checked_numbers(scale, numbers, table.shape[1])
    totals = table.sum(axis=0).astype(np.float64)

    if len(table) == 0:
        value, reason = np.nan, NOT_PAIRABLE
    elif np.count_nonzero(totals) == 1:
        value, reason = np.nan, ONE_ANSWER
    else:
        value, reason = _alpha(table.astype(np.float64), SCALES[scale].distances(totals, answer_numbers)), ""
    return Agreement(
        value=value,
        units=len(table),
        ratings=int(totals.sum()),
        definition=f"Krippendorff's α ({scale}): 1 − observed / expected disagreement over the summaries with"
        f" two ratings or more; {SCALES[scale].definition}.",
        left_out=left_out,
        reason=reason,
    )


def _alpha(table: Floats, distances: Floats) -> float:
    """Alpha of units that all have two ratings or more; a pair of equal answers is at distance 0."""
    totals = table.sum(axis=0)
    others = table.sum(axis=1, keepdims=True) - 1
    observed = (table.T @ (table / others) * distances).sum()
    expected = totals @ distances @ totals / (totals.sum() - 1)
    return float(1 - observed / expected)


def _checked_numbers(scale: str, numbers: npt.ArrayLike | None, n_answers: int) -> Floats:
    if numbers is None:
        if scale == "interval":
            raise ValueError("the interval scale needs the number that each answer stands for")
        return np.arange(n_answers, dtype=np.float64)
    checked = number_vector("numbers", numbers)
    if len(checked) != n_answers:
        raise ValueError(
            f"numbers must hold one number for each of the {n_answers} answers, not {len(checked)}"
        )
    if not (np.diff(checked) > 0).all() or np.isnan(checked).any():
        raise ValueError(f"numbers must ascend with the answers, not {checked.tolist()}")
    return checked
