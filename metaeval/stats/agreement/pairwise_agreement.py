"""The share of equal answers between two ratings of the same summary, or among all of them."""

from metaeval.stats.agreement.count_statistic import CountStatistic, ratio
from metaeval.stats.agreement.rated_units import RatedUnits
from metaeval.stats.arrays import Floats


def pairwise_agreement(units: RatedUnits, _scale: str, _numbers: Floats) -> Floats:
    """Return the share of agreeing pairs of ratings, 0 to 1, over all units together, as SEAHORSE reports.

    Chance is not taken into account. Undefined without any unit of two ratings or more. 1, not undefined,
    when all give the same answer.

    Source: reported beside alpha by Clark et al., "SEAHORSE", EMNLP 2023.

    >>> PAIRWISE.of_counts([[2, 0], [1, 2]], "nominal").value
    0.5
    """
    agreeing = (units.times * (units.pairs - units.differing)).sum(axis=0)
    return ratio(agreeing, (units.times * units.pairs).sum(axis=0))


def all_agree_share(units: RatedUnits, _scale: str, _numbers: Floats) -> Floats:
    """Return the share of units, 0 to 1, whose ratings all give the same answer.

    Only units with two ratings or more count. Undefined without any.

    >>> ALL_AGREE.of_counts([[3, 0], [1, 1]], "nominal").value
    0.5
    """
    alike = (units.times * (units.differing == 0)).sum(axis=0)
    return ratio(alike, units.times.sum(axis=0))


PAIRWISE = CountStatistic(
    pairwise_agreement,
    lambda _scale: (
        "Pairwise agreement over pairs: agreeing pairs of ratings / all pairs of ratings of the same summary,"
        " over all summaries together (a summary with more ratings weighs more)."
    ),
    least=0.0,
)
ALL_AGREE = CountStatistic(
    all_agree_share,
    lambda _scale: (
        "Share of summaries on which all ratings give the same answer, among those with two ratings or more."
    ),
    least=0.0,
)
