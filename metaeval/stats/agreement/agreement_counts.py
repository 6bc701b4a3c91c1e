"""The table of counts from which every statistic of agreement is computed."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Ints, code_vector, refuse_unequal_lengths

FEWER_THAN_TWO = "summaries with fewer than two ratings"
NOT_PAIRABLE = "no summary has two ratings or more"


def agreement_counts(units: npt.ArrayLike, answers: npt.ArrayLike, *, n_units: int, n_answers: int) -> Ints:
    """How often each unit (summary) got each answer, from one entry per rating.

    A missing rating has no entry. Who rated does not matter to any statistic here.

    Parameters
    ----------
    units : (ratings,) which unit was rated, 0 to n_units - 1.
    answers : (ratings,) which answer it got, 0 to n_answers - 1; on an ordinal scale in ascending order.

    Returns
    -------
    (n_units, n_answers) counts, 0 or more.

    Raises
    ------
    ValueError : unequal lengths, codes that are not whole numbers, or a code outside its range.

    >>> agreement_counts([0, 0, 1], [1, 1, 0], n_units=2, n_answers=2)
    array([[0, 2],
           [1, 0]])
    """
    unit = code_vector("units", units)
    answer = code_vector("answers", answers)
    refuse_unequal_lengths(units=unit, answers=answer)
    for name, codes, end in (("units", unit, n_units), ("answers", answer, n_answers)):
        outside = (codes < 0) | (codes >= end)
        if outside.any():
            at = int(outside.argmax())
            raise ValueError(f"{name}[{at}] is {codes[at]}: it must lie between 0 and {end - 1}")
    return np.bincount(unit * n_answers + answer, minlength=n_units * n_answers).reshape(n_units, n_answers)


class Pairable(NamedTuple):
    """The units with two ratings or more: only they show agreement or the lack of it."""

    counts: Ints  # (pairable units, answers)
    left_out: dict[str, int]  # reason -> units


def pairable(counts: npt.ArrayLike) -> Pairable:
    """Leave out the units with fewer than two ratings from `counts`, (units, answers), and count them.

    Raises ValueError unless `counts` is a table of whole numbers of 0 or more.
    """
    table = np.asarray(counts)
    if table.ndim != 2:
        raise ValueError(f"counts must have shape (units, answers), not {table.shape}")
    if not np.issubdtype(table.dtype, np.integer):
        raise ValueError(f"counts must be whole numbers, not {table.dtype}")
    if table.size and table.min() < 0:
        raise ValueError(f"counts must be 0 or more, not {table.min()}")
    kept = table[table.sum(axis=1) >= 2].astype(np.int64)
    alone = len(table) - len(kept)
    return Pairable(kept, {FEWER_THAN_TWO: alone} if alone else {})
