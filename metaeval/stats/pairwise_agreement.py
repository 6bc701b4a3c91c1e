"""Pairwise agreement: how often two ratings of the same summary give the same answer."""

import numpy as np
import numpy.typing as npt

from metaeval.stats.agreement_counts import NOT_PAIRABLE, pairable
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
    table, left_out = pairable(counts)
    ratings = table.sum(axis=1)
    agreeing = (table * (table - 1) // 2).sum(axis=1)
    pairs = ratings * (ratings - 1) // 2
    if len(table) == 0:
        value = np.nan
    elif over == "pairs":
        value = agreeing.sum() / pairs.sum()
    else:
        value = (agreeing / pairs).mean()
    return Agreement(
        value=float(value),
        units=len(table),
        ratings=int(ratings.sum()),
        definition=f"Pairwise agreement over {over}: {DEFINITIONS[over]}.",
        left_out=left_out,
        reason="" if len(table) else NOT_PAIRABLE,
    )
