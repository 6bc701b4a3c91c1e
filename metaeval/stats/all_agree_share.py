"""The share of summaries on which all raters agree."""

import numpy as np
import numpy.typing as npt

from metaeval.stats.agreement_counts import NOT_PAIRABLE, pairable
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
    table, left_out = pairable(counts)
    ratings = table.sum(axis=1)
    return Agreement(
        value=float((table.max(axis=1) == ratings).mean()) if len(table) else np.nan,
        units=len(table),
        ratings=int(ratings.sum()),
        definition="Share of summaries on which all ratings give the same answer, among those with two"
        " ratings or more.",
        left_out=left_out,
        reason="" if len(table) else NOT_PAIRABLE,
    )
