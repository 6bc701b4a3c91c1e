"""Pairwise agreement: how often two ratings of the same summary give the same answer."""

import numpy.typing as npt

from metaeval.stats.agreement.count_statistic import CountStatistic, mean_over_units, ratio
from metaeval.stats.agreement.rated_units import RatedUnits
from metaeval.stats.arrays import Floats
from metaeval.stats.result import Agreement

DEFINITIONS = {
    "pairs": "agreeing pairs of ratings / all pairs of ratings of the same summary, over all summaries"
    " together (a summary with more ratings weighs more)",
    "units": "the share of agreeing pairs among the pairs of ratings of one summary, then the mean over"
    " summaries (each weighs the same)",
}


def pairwise_agreement(counts: npt.ArrayLike, over: str = "pairs") -> Agreement:
    """The share of agreeing pairs of ratings, 0 to 1; chance is not taken into account.

    Parameters
    ----------
    counts : (units, answers) how often each unit got each answer, from `agreement_counts`.
    over : "pairs" (as SEAHORSE reports): agreeing pairs / pairs, of all units together. "units": the mean
        over units of their shares. The two are equal if all units have equally many ratings.

    Returns
    -------
    Undefined without any unit of two ratings or more. 1, not undefined, when all give the same answer.

    Raises
    ------
    ValueError : another `over`; `counts` not a table of whole numbers of 0 or more.

    Source: reported beside alpha by Clark et al., "SEAHORSE", EMNLP 2023.

    >>> pairwise_agreement([[2, 0], [1, 2]]).value
    0.5
    """
    if over not in DEFINITIONS:
        raise ValueError(f"over {over!r} does not exist: choose from {', '.join(DEFINITIONS)}")
    return (PAIRWISE if over == "pairs" else _OVER_UNITS).of_counts(counts, "nominal")


def _over_pairs(units: RatedUnits, _scale: str, _numbers: Floats) -> Floats:
    agreeing = (units.times * (units.pairs - units.differing)).sum(axis=0)
    return ratio(agreeing, (units.times * units.pairs).sum(axis=0))


def _definition(over: str) -> str:
    return f"Pairwise agreement over {over}: {DEFINITIONS[over]}."


PAIRWISE = CountStatistic(_over_pairs, lambda _scale: _definition("pairs"))
_OVER_UNITS = CountStatistic(
    lambda units, _scale, _numbers: 1 - mean_over_units(units, units.differing),
    lambda _scale: _definition("units"),
)
