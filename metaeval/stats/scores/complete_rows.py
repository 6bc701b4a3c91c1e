"""Rows with nothing missing, and how many lack what."""

from collections.abc import Mapping

import numpy as np

from metaeval.stats.arrays import Bools
from metaeval.stats.correlation.paired import nonzero

NO_PAIR = "no summary has both a label and a score"


def complete_rows(lacking: Mapping[str, Bools]) -> tuple[Bools, dict[str, int]]:
    """Return the rows, (n,), that no entry of `lacking` excludes, and the excluded rows by reason.

    Each row counts under its first reason.

    `lacking` maps each reason, one or more of them, to the rows (n,) that it keeps out.

    >>> complete_rows({"no label": np.array([True, False]), "no score": np.array([True, False])})
    (array([False,  True]), {'no label': 1})
    """
    kept = np.ones(len(next(iter(lacking.values()))), dtype=bool)
    counts = {}
    for reason, lacks in lacking.items():
        counts[reason] = int((kept & lacks).sum())
        kept &= ~lacks
    return kept, nonzero(counts)
