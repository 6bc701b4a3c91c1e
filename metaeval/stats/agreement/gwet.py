"""Gwet's AC1 and AC2: agreement beyond chance, robust where one answer dominates."""

import numpy as np

from metaeval.stats.agreement.answer_numbers import unit_range
from metaeval.stats.agreement.count_statistic import CountStatistic, mean_over_units
from metaeval.stats.agreement.fleiss_kappa import answer_shares
from metaeval.stats.agreement.rated_units import RatedUnits
from metaeval.stats.arrays import Floats

ONE_POSSIBLE = "there is only one answer to give"

WEIGHTS: dict[str, str] = {
    "nominal": "two different answers agree 0",
    "ordinal": "two answers d steps apart on a scale of q agree 1 − (d + 1)d / (q(q − 1))",
    "interval": "two answers agree 1 − (difference / range of the answers)²",
}
"""Scale -> the agreement of two answers, in words. The statistic is AC1 on a nominal scale, else AC2."""


def gwet_ac(units: RatedUnits, scale: str, numbers: Floats) -> Floats:
    """Return Gwet's AC1 (nominal) or AC2 (ordinal, interval): (P - P_e) / (1 - P_e).

    P is the mean over units of the mean weight w_kl of the unit's pairs of ratings k, l; P_e = sum_kl w_kl /
    (q (q - 1)) * sum_k p_k (1 - p_k), with p_k the mean over units of the share of the unit's ratings that
    give answer k, and q the answers that can be given. w_kl is 1 for equal answers. For different answers it
    is 0 on a nominal scale, 1 − (d + 1)d / (q(q − 1)) for d steps on an ordinal scale, and 1 − (difference /
    range of the answers)² on an interval scale.

    1 at perfect agreement, also when all give the same answer. Ratings may be missing: units may have any
    number. Units with fewer than two are left out of P and, unlike in Gwet's book, of p_k too, so that all
    statistics of agreement stand on the same ratings. Undefined without a unit of two ratings, and where
    there is only one answer to give.

    Source: K. L. Gwet, "Computing inter-rater reliability and its variance in the presence of high
    agreement", British Journal of Mathematical and Statistical Psychology 61, 2008 (AC1); Handbook of
    Inter-Rater Reliability, 4th ed. 2014, chapters 2 and 3 (AC2, ordinal and quadratic weights, missing
    ratings).

    >>> round(GWET.of_counts([[2, 0], [2, 0], [2, 0], [1, 1]], "nominal").value, 6)
    0.68
    """
    q = units.cells.n_answers
    if q < 2:
        return np.full(units.times.shape[-1], np.nan)
    if scale == "nominal":
        differing, all_weights = units.differing, float(q)
    elif scale == "ordinal":
        steps = units.cells.answers.astype(np.float64)[:, None]
        pairs_of_answers = q * (q - 1) / 2
        differing = (units.squares(steps) + units.distances(steps)) / 2 / pairs_of_answers
        # Over all pairs of the q answers, sum of d (d + 1) / 2 is q (q^2 - 1) (q + 2) / 12.
        all_weights = q**2 - q * (q**2 - 1) * (q + 2) / 12 / pairs_of_answers
    else:
        places = unit_range(numbers)
        differing = units.squares(places[units.cells.answers][:, None])
        all_weights = float(q**2 - 2 * q * ((places - places.mean()) ** 2).sum())
    shares = answer_shares(units)
    by_chance = all_weights / (q * (q - 1)) * (shares * (1 - shares)).sum(axis=0)
    return 1 - mean_over_units(units, differing) / (1 - by_chance)


def _definition(scale: str) -> str:
    name = "AC1" if scale == "nominal" else f"AC2 ({scale})"
    return (
        f"Gwet's {name}: (P − P_e) / (1 − P_e), with P the mean over summaries with two ratings or more of"
        f" the mean agreement of their pairs of ratings, where equal answers agree 1 and {WEIGHTS[scale]};"
        " P_e = (sum over all pairs of answers) / (q(q − 1)) · Σ p(1 − p) over the q answers of the"
        " scale, p the mean over the same summaries of the share of ratings that give the answer."
    )


GWET = CountStatistic(gwet_ac, _definition, ONE_POSSIBLE)
