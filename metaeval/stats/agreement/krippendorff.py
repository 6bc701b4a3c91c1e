"""Krippendorff's alpha: agreement between raters beyond what chance would give."""

import numpy as np
import numpy.typing as npt

from metaeval.stats.agreement.answer_numbers import unit_range
from metaeval.stats.agreement.count_statistic import CountStatistic, ratio
from metaeval.stats.agreement.rated_units import RatedUnits
from metaeval.stats.arrays import Floats
from metaeval.stats.result import Agreement

ONE_ANSWER = "all ratings that can be compared give the same answer, so chance would agree fully too (0/0)"

SCALES: dict[str, str] = {
    "nominal": "the distance of two different answers is 1",
    "ordinal": "the distance of two answers is the square of the number of ratings between the middle of the"
    " one and the middle of the other",
    "interval": "the distance of two answers is the square of their difference",
}
"""Scales by name, with the distance of two answers in words."""


def krippendorff_alpha(counts: npt.ArrayLike, scale: str, numbers: npt.ArrayLike | None = None) -> Agreement:
    """Return Krippendorff's alpha: 1 - observed / expected disagreement.

    Over units with m_u >= 2 ratings: observed o_ck = sum_u (ordered pairs of ratings c, k in u) / (m_u - 1);
    n_c = sum_k o_ck, n = sum_c n_c; expected e_ck = n_c (n_k - [c = k]) / (n - 1); alpha = 1 - sum o_ck d_ck
    / sum e_ck d_ck, with d the distance of the scale: 1 for different answers (nominal), the square of the
    number of ratings between the middles of both (ordinal), or the square of their difference (interval).

    Parameters
    ----------
    counts : (units, answers) how often each unit got each answer. Any number of
        ratings per unit. On an ordinal scale the answers stand in ascending order.
    scale : one of `SCALES`.
    numbers : (answers,) the number that each answer stands for, ascending; only the interval scale needs it.

    1 at perfect agreement, 0 at chance, below 0 at worse than chance. Undefined without any unit of two
    ratings, and when the ratings of all such units give one and the same answer: no disagreement is expected
    then, which leaves 0/0. Packages differ: nltk says 1, PyPI krippendorff raises an error,
    simpledorff divides by zero.

    Raises ValueError for a scale that does not exist; `numbers` missing for the interval scale, or not one
    number per answer in ascending order; `counts` not a table of whole numbers of 0 or more.

    Source: K. Krippendorff, "Computing Krippendorff's alpha-reliability", 2011. No table of
    pairs of answers is needed, so time and memory grow with the ratings only.

    >>> round(krippendorff_alpha([[2, 0], [0, 2], [1, 1]], "nominal").value, 6)
    0.444444
    """
    if scale not in SCALES:
        raise ValueError(f"scale {scale!r} does not exist: choose from {', '.join(SCALES)}")
    return ALPHA.of_counts(counts, scale, numbers)


def _alphas(units: RatedUnits, scale: str, numbers: Floats) -> Floats:
    totals = units.totals
    n = totals.sum(axis=0)
    if scale == "nominal":
        within = units.differing
        between = n**2 - (totals**2).sum(axis=0)
    else:
        places = (
            _middles(totals, n) if scale == "ordinal" else unit_range(numbers)[units.cells.given][:, None]
        )
        within = units.squares(places[units.cells.place])
        means = (totals * places).sum(axis=0) / np.maximum(n, 1)
        between = 2 * n * (totals * (places - means) ** 2).sum(axis=0)
    # In a unit of m ratings, m (m - 1) pairs and each rating in m - 1 of them: pairs / (m - 1) is m * share.
    shares = within / np.where(units.pairs > 0, units.pairs, np.inf)
    observed = (units.times * units.ratings * shares).sum(axis=0)
    several = np.count_nonzero(totals, axis=0) > 1
    return 1 - ratio(observed * (n - 1), np.where(several, between, 0.0))


def _middles(totals: Floats, n: Floats) -> Floats:
    """Return the middle of each answer's ratings as a share of all, so that large n stay exact."""
    # From the middle of c to the middle of k: sum_{g=c..k} n_g - (n_c + n_k) / 2.
    return (np.cumsum(totals, axis=0) - totals / 2) / np.maximum(n, 1)


ALPHA = CountStatistic(
    values=_alphas,
    definition=lambda scale: (
        f"Krippendorff's α ({scale}): 1 − observed / expected disagreement over the summaries with"
        f" two ratings or more; {SCALES[scale]}."
    ),
    undefined=ONE_ANSWER,
)
