"""The share of summaries on which all raters agree."""

import numpy.typing as npt

from metaeval.stats.agreement.count_statistic import CountStatistic, ratio
from metaeval.stats.agreement.rated_units import RatedUnits
from metaeval.stats.arrays import Floats
from metaeval.stats.result import Agreement


def all_agree_share(counts: npt.ArrayLike) -> Agreement:
    """The share of units on which every rating is the same answer, 0 to 1, among those with two or more.

    Parameters
    ----------
    counts : (units, answers) how often each unit got each answer, from `agreement_counts`.

    Returns
    -------
    Undefined without any unit of two ratings or more.

    Raises
    ------
    ValueError : `counts` is not a table of whole numbers of 0 or more.

    >>> all_agree_share([[3, 0], [1, 1]]).value
    0.5
    """
    return ALL_AGREE.of_counts(counts, "nominal")


def _shares(units: RatedUnits, _scale: str, _numbers: Floats) -> Floats:
    alike = (units.times * (units.differing == 0)).sum(axis=0)
    return ratio(alike, units.times.sum(axis=0))


ALL_AGREE = CountStatistic(
    _shares,
    lambda _scale: (
        "Share of summaries on which all ratings give the same answer, among those with two ratings or more."
    ),
)
