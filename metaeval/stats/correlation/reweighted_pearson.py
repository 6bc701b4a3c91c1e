"""Pearson's correlation r in every resample."""

import numpy as np

from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.correlation.pearson import pearson
from metaeval.stats.correlation.reweighted_rows import Draws, ReweightedRows, ValueCounts, sum_table
from metaeval.stats.groups import Groups

# A resample whose sum of squares about its mean is a smaller part of the one about the group's mean has lost
# more than five of sixteen digits, and is recomputed from its rows.
LEAST_PART = 1e-5


class ReweightedPearson:
    """Pearson's r of each group in every resample, from sums of products per unit."""

    def __init__(self, rows: ReweightedRows) -> None:
        self._rows = rows
        self._alike_labels = ValueCounts(rows, rows.label_codes)
        self._alike_scores = ValueCounts(rows, rows.score_codes)
        z, x = (_scaled(values, rows.groups) for values in (rows.labels, rows.scores))
        self._group_count = len(rows.groups.sizes)
        sums = np.arange(6)[:, None] * self._group_count + rows.groups.of_row
        self._table = sum_table(
            sums.ravel(),
            6 * self._group_count,
            np.tile(rows.units, 6),
            rows.unit_count,
            np.concatenate([np.ones(len(z)), z, x, z * z, x * x, z * x]),
        )

    def __call__(self, drawn: Draws) -> Floats:
        """Return r, (groups, resamples); nan where labels or scores are all equal."""
        sizes, z, x, zz, xx, zx = (self._table @ drawn.times).reshape(6, self._group_count, -1)
        with np.errstate(invalid="ignore", divide="ignore"):
            s_zz, s_xx, s_zx = zz - z * z / sizes, xx - x * x / sizes, zx - z * x / sizes
            r = np.clip(s_zx / np.sqrt(s_zz * s_xx), -1.0, 1.0)
            inexact = ~((s_zz > LEAST_PART * zz) & (s_xx > LEAST_PART * xx))
        if inexact.any():
            pairs = sizes * sizes
            varied = (self._alike_labels.squares(drawn) < pairs) & (self._alike_scores.squares(drawn) < pairs)
            r[inexact] = np.nan
            inexact &= varied
            r[inexact] = self._recomputed(drawn.times, *np.nonzero(inexact))
        return r

    def _recomputed(self, times: Floats, groups: Ints, resamples: Ints) -> Floats:
        """Compute r from the drawn rows for the chosen groups and resamples, (chosen,)."""
        of_group = self._rows.groups
        chosen = Groups(of_group.sizes[groups])
        row = np.arange(int(chosen.sizes.sum())) + chosen.spread(of_group.starts[groups] - chosen.starts)
        drawn = times[self._rows.units[row], chosen.spread(resamples)].astype(np.int64)
        row = np.repeat(row, drawn)
        return pearson(self._rows.labels[row], self._rows.scores[row], Groups(chosen.total(drawn)))


def _scaled(values: Floats, groups: Groups) -> Floats:
    """Return deviations from the group's mean, scaled to a largest of 1 or -1."""
    deviations = values - groups.spread(groups.mean(values))
    largest = groups.largest(np.abs(deviations))
    return deviations / groups.spread(np.where(largest > 0, largest, 1.0))
