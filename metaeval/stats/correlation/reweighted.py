"""Pearson's correlation r and Spearman's rank correlation ρ in every resample."""

import numpy as np

from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation.ordered_products import OrderedProducts
from metaeval.stats.correlation.pearson import pearson
from metaeval.stats.correlation.reweighted_pairs import inversions_by_bit
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


# Up to so many different labels, their rank sums are faster than going through all rows. Means over up to
# three raters of yes and no are five.
FEW_LABELS = 5
# Numbers in an array of all rows; larger arrays do not fit the processor's cache.
AT_ONCE = 800_000


class ReweightedSpearman:
    """Spearman's ρ of each group in every resample; copies of a row share the mean of their ranks.

    With t rows of a value, counted as often as they were drawn, and b below it, its rank is b + (t + 1)/2,
    and the squares of N ranks about their mean add up to (N³ - Σ t³)/12.
    """

    def __init__(self, rows: ReweightedRows) -> None:
        self._alike_scores = ValueCounts(rows, rows.score_codes)
        self._labels = _values_in_groups(rows.label_codes, rows.groups)
        self._label_table = rows.table(rows.label_codes, len(self._labels.of_row))
        is_few = len(np.unique(rows.labels)) <= FEW_LABELS
        self._rank_products = (_ProductsByLabel if is_few else _ProductsByScore)(rows, self._labels)

    def __call__(self, drawn: Draws) -> Floats:
        """Return ρ, (groups, resamples); nan where labels or scores are all equal."""
        of_label = self._label_table @ drawn.times
        sizes = self._labels.total(of_label)
        products = self._rank_products(drawn, of_label, _ranks(of_label, self._labels))
        covariance = products - sizes * (sizes + 1) ** 2 / 4
        cubes = sizes * sizes * sizes
        label_cubes = self._labels.total(of_label * of_label * of_label)
        variances = (cubes - label_cubes) * (cubes - self._alike_scores.cubes(drawn))
        rho = 12 * covariance / np.sqrt(np.where(variances > 0, variances, np.nan))
        return np.clip(rho, -1.0, 1.0)


class _ProductsByLabel:
    """The sum over rows of label rank times score rank, (groups, resamples), by label.

    The ranks of N_k of N rows add up to U + N_k(N_k + 1)/2, where U counts the pairs of one of these and
    another row in which it has the higher score, those of equal scores by half (Mann & Whitney, Annals of
    Mathematical Statistics 18, 1947). All ranks add up to N(N + 1)/2, so the commonest label needs no count.
    """

    def __init__(self, rows: ReweightedRows, labels: Groups) -> None:
        self._labels = labels
        codes = np.unique(rows.labels, return_inverse=True)[1]
        commonest_last = np.argsort(np.bincount(codes), kind="stable")
        code_of_entry = np.empty(len(labels.of_row), dtype=np.int64)
        code_of_entry[rows.label_codes] = codes
        self._entries = [np.flatnonzero(code_of_entry == code) for code in commonest_last]
        self._below = [_PairsBelow(rows, codes == code) for code in commonest_last[:-1]]

    def __call__(self, drawn: Draws, of_label: Floats, label_ranks: Floats) -> Floats:
        sizes = self._labels.total(of_label)
        rank_sums_left = sizes * (sizes + 1) / 2
        products = np.zeros_like(sizes)
        for entries, below in zip(self._entries, self._below, strict=False):
            groups, own = self._labels.of_row[entries], of_label[entries]
            above = own * (sizes[groups] - own) - below(drawn)[groups]
            rank_sums = above + own * (own + 1) / 2
            products[groups] += label_ranks[entries] * rank_sums
            rank_sums_left[groups] -= rank_sums
        commonest = self._entries[-1]
        groups = self._labels.of_row[commonest]
        products[groups] += label_ranks[commonest] * rank_sums_left[groups]
        return products


class _PairsBelow:
    """Pairs of a chosen row and another with a higher score; ties count half."""

    def __init__(self, rows: ReweightedRows, chosen: Bools) -> None:
        self._inversions = tuple(inversions_by_bit(rows, chosen.astype(np.int64)))
        tied = chosen & (np.bincount(rows.score_codes)[rows.score_codes] > 1)
        scores, first, code = np.unique(rows.score_codes[tied], return_index=True, return_inverse=True)
        self._chosen = sum_table(code, len(scores), rows.units[tied], rows.unit_count)
        among = np.isin(rows.score_codes, scores)
        code_of_all = np.searchsorted(scores, rows.score_codes[among])
        self._all = sum_table(code_of_all, len(scores), rows.units[among], rows.unit_count)
        groups = rows.groups.of_row[tied][first]
        self._of_group = sum_table(groups, len(rows.groups.sizes), np.arange(len(scores)), len(scores))

    def __call__(self, drawn: Draws) -> Floats:
        chosen = self._chosen @ drawn.times
        below = self._of_group @ (chosen * (self._all @ drawn.times - chosen)) / 2
        for inversions in self._inversions:
            inversions.add_to(below, drawn)
        return below


class _ProductsByScore:
    """The sum over rows of label rank times score rank, (groups, resamples), by score."""

    def __init__(self, rows: ReweightedRows, labels: Groups) -> None:
        self._labels = labels
        self._products = OrderedProducts(_values_in_groups(rows.score_codes, rows.groups))
        place = np.argsort(self._products.order)[rows.score_codes]
        by_place = np.argsort(place, kind="stable")
        self._units, self._label_codes = rows.units[by_place], rows.label_codes[by_place]
        self._rows_of_score = Groups(np.bincount(place))

    def __call__(self, drawn: Draws, of_label: Floats, label_ranks: Floats) -> Floats:
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
    """Return groups of the distinct values that `codes` (rows,) number in ascending order."""
    first_row = np.unique(codes, return_index=True)[1]
    return Groups(np.bincount(groups.of_row[first_row]))


def _ranks(drawn: Floats, values: Groups) -> Floats:
    """Return the rank of each value within its group, (values, resamples)."""
    up_to = np.cumsum(drawn, axis=0)
    below_group = (up_to - drawn)[values.starts]
    return up_to - np.repeat(below_group, values.sizes, axis=0) - (drawn - 1) / 2
