"""The rank sum of the scores of each label, in every resample: for Spearman's ρ of few different labels."""

import numpy as np

from metaeval.stats.arrays import Bools, Floats
from metaeval.stats.correlation.reweighted_pairs import inversions_by_bit
from metaeval.stats.correlation.reweighted_rows import Drawn, ReweightedRows, sum_table
from metaeval.stats.groups import Groups


class ProductsByLabel:
    """(groups, resamples) the sum over rows of label rank times score rank, from the rank sum of each label.

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

    def __call__(self, drawn: Drawn, of_label: Floats, label_ranks: Floats) -> Floats:
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
    """Pairs of a chosen and another row of its group in which it has the lower score, equal ones by half."""

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

    def __call__(self, drawn: Drawn) -> Floats:
        chosen = self._chosen @ drawn.times
        below = self._of_group @ (chosen * (self._all @ drawn.times - chosen)) / 2
        for inversions in self._inversions:
            inversions.add_to(below, drawn)
        return below
