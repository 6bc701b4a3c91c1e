"""Fleiss' kappa: agreement of many raters on answers without order."""

from metaeval.stats.agreement.count_statistic import CountStatistic, mean_over_units, ratio
from metaeval.stats.agreement.krippendorff import ONE_ANSWER
from metaeval.stats.agreement.rated_units import RatedUnits
from metaeval.stats.arrays import Floats


def fleiss_kappa(units: RatedUnits, _scale: str, _numbers: Floats) -> Floats:
    """Return Fleiss' kappa: (P - P_e) / (1 - P_e).

    P is the mean over units of the share of agreeing pairs among the unit's pairs of ratings;
    P_e = sum_k p_k^2 with p_k the mean over units of the share of the unit's ratings that give answer k.

    The order of answers does not matter: two different answers always disagree wholly.

    1 at perfect agreement, 0 at chance, below 0 at worse than chance. Fleiss defined it for equally many
    ratings of every unit. With unequal numbers each unit weighs the same, in P and in P_e (Gwet's
    generalisation), and units with fewer than two ratings are left out of both. Undefined without a unit of
    two ratings, and when all ratings of such units give the same answer (P_e is 1, which leaves 0/0).

    Source: J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76,
    1971; for unequal numbers K. L. Gwet, Handbook of Inter-Rater Reliability, 4th ed. 2014, chapter 2.

    >>> round(FLEISS.of_counts([[2, 0], [0, 2], [1, 1]], "nominal").value, 6)
    0.333333
    """
    disagreement = mean_over_units(units, units.differing)
    # 1 - sum p^2, written so that it is exactly 0 where one answer has all.
    shares = answer_shares(units)
    expected = (shares * (1 - shares)).sum(axis=0)
    several = (units.totals > 0).sum(axis=0) > 1
    return 1 - ratio(disagreement, expected * several)


def answer_shares(units: RatedUnits) -> Floats:
    """Return the mean over units of each answer's share of the unit's ratings, (given, draws)."""
    shares = units.counts / units.of_cell(units.ratings).clip(min=1)
    return ratio(units.answer_sum(units.of_cell(units.times) * shares), units.times.sum(axis=0))


FLEISS = CountStatistic(
    values=fleiss_kappa,
    definition=lambda _scale: (
        "Fleiss' κ (nominal): (P − P_e) / (1 − P_e), with P the mean over summaries with two ratings or more"
        " of the share of agreeing pairs of ratings, and P_e = Σ p² over answers, p the mean over the same"
        " summaries of the share of ratings that give the answer; each summary weighs the same, however many"
        " ratings it has."
    ),
    undefined=ONE_ANSWER,
)
