"""Bins of neighbouring values, with about as many summaries each."""

from typing import NamedTuple

import numpy as np

from metaeval.stats.arrays import Floats, Ints


class CalibrationBin(NamedTuple):
    """Summaries of neighbouring scores."""

    lowest: float
    """Score."""
    highest: float
    score: float
    """Mean."""
    label: float
    """Mean."""
    n: int


def bins_of(values: Floats, most: int = 10) -> Ints:
    """Return the bin of each value, (n,): 0, 1, 2 ... in ascending order.

    `values` are (n,) without nan.

    Equal values are never parted, so a bin may hold more than its share and there may be fewer than `most`.

    >>> bins_of(np.array([3.0, 1.0, 1.0, 2.0]), most=2)
    array([1, 0, 0, 1])
    """
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    before = np.cumsum(counts) - counts
    bins = np.minimum((before + counts / 2) * most / max(len(values), 1), most - 1).astype(np.int64)
    return np.unique(bins[places], return_inverse=True)[1]


def calibration_bins(labels: Floats, scores: Floats, most: int = 10) -> list[CalibrationBin]:
    """Return mean label and mean score of bins of neighbouring scores.

    `labels` and `scores` are (n,) without nan. Equal scores are never parted, so a bin may hold more than
    its share and there may be fewer than `most`; no summaries make no bins.
    """
    bins = bins_of(scores, most)
    return [
        CalibrationBin(
            float(scores[bins == place].min()),
            float(scores[bins == place].max()),
            float(scores[bins == place].mean()),
            float(labels[bins == place].mean()),
            int((bins == place).sum()),
        )
        for place in np.unique(bins)
    ]
