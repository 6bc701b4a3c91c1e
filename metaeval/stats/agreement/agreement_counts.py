"""The units with two ratings or more in a table of counts."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Ints

FEWER_THAN_TWO = "summaries with fewer than two ratings"
NOT_PAIRABLE = "no summary has two ratings or more"


class Pairable(NamedTuple):
    """The units with two ratings or more, as only they show agreement."""

    counts: Ints  # (pairable units, answers)
    left_out: dict[str, int]  # reason -> units


def pairable(counts: npt.ArrayLike) -> Pairable:
    """Leave out and count the units with fewer than two ratings.

    `counts` is (units, answers).

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
