"""Spearman's rank correlation ρ of every resample."""

import numpy as np

from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.correlation.ordered_products import OrderedProducts
from metaeval.stats.correlation.reweighted_rank_sums import ProductsByLabel
from metaeval.stats.correlation.reweighted_rows import Alike, Drawn, ReweightedRows
from metaeval.stats.groups import Groups

# Up to so many different labels, their rank sums are faster than going through all rows. Means over up to
# three raters of yes and no are five.
FEW_LABELS = 5
# Numbers in an array of all rows: larger ones leave the processor's cache.
AT_ONCE = 800_000


class ReweightedSpearman:
    """Spearman's ρ of each group in every resample; copies of a row share the mean of their ranks.

    With t rows of a value, counted as often as they were drawn, and b below it, its rank is b + (t + 1)/2,
    and the squares of N ranks about their mean add up to (N³ - Σ t³)/12.
    """

    def __init__(self, rows: ReweightedRows) -> None:
        self._alike_scores = Alike(rows, rows.score_codes)
        self._labels = _values_in_groups(rows.label_codes, rows.groups)
        self._label_table = rows.table(rows.label_codes, len(self._labels.of_row))
        is_few = len(np.unique(rows.labels)) <= FEW_LABELS
        self._rank_products = (ProductsByLabel if is_few else _ProductsByScore)(rows, self._labels)

    def __call__(self, drawn: Drawn) -> Floats:
        """(groups, resamples) nan where all labels or all scores are equal, or fewer than two rows are."""
        of_label = self._label_table @ drawn.times
        sizes = self._labels.total(of_label)
        products = self._rank_products(drawn, of_label, _ranks(of_label, self._labels))
        covariance = products - sizes * (sizes + 1) ** 2 / 4
        cubes = sizes * sizes * sizes
        label_cubes = self._labels.total(of_label * of_label * of_label)
        variances = (cubes - label_cubes) * (cubes - self._alike_scores.cubes(drawn))
        rho = 12 * covariance / np.sqrt(np.where(variances > 0, variances, np.nan))
        return np.clip(rho, -1.0, 1.0)


class _ProductsByScore:
    """(groups, resamples) the sum over rows of label rank times score rank, in the order of the scores."""

    def __init__(self, rows: ReweightedRows, labels: Groups) -> None:
        self._labels = labels
        self._products = OrderedProducts(_values_in_groups(rows.score_codes, rows.groups))
        place = np.argsort(self._products.order)[rows.score_codes]
        by_place = np.argsort(place, kind="stable")
        self._units, self._label_codes = rows.units[by_place], rows.label_codes[by_place]
        self._rows_of_score = Groups(np.bincount(place))

    def __call__(self, drawn: Drawn, of_label: Floats, label_ranks: Floats) -> Floats:
        at_once = max(1, AT_ONCE // len(self._units))
        blocks = [slice(start, start + at_once) for start in range(0, of_label.shape[1], at_once)]
        ordered = [self._ordered(drawn.times[:, block], label_ranks[:, block]) for block in blocks]
        # A score's rank is half a place above the middle of its rows.
        return np.concatenate(ordered, axis=1) + self._labels.total(of_label * label_ranks) / 2

    def _ordered(self, times: Floats, label_ranks: Floats) -> Floats:
        drawn = np.ascontiguousarray(times).take(self._units, axis=0)
        ranks = np.ascontiguousarray(label_ranks).take(self._label_codes, axis=0)
        ranks *= drawn
        if len(self._rows_of_score.sizes) < len(drawn):
            drawn, ranks = self._rows_of_score.total(drawn), self._rows_of_score.total(ranks)
        return self._products.sums(drawn, ranks, own=0.5)


def _values_in_groups(codes: Ints, groups: Groups) -> Groups:
    """The distinct values of each group, which `codes` (rows,) number in ascending order."""
    first_row = np.unique(codes, return_index=True)[1]
    return Groups(np.bincount(groups.of_row[first_row]))


def _ranks(drawn: Floats, values: Groups) -> Floats:
    """(values, resamples) the rank of each value within its group, of which so many rows were drawn."""
    up_to = np.cumsum(drawn, axis=0)
    below_group = (up_to - drawn)[values.starts]
    return up_to - np.repeat(below_group, values.sizes, axis=0) - (drawn - 1) / 2
