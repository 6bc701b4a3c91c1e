"""Pairs of summaries in every resample, for Kendall's τ, pairwise accuracy and ROC AUC."""

from collections.abc import Iterator

import numpy as np

from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation.ordered_products import OrderedProducts
from metaeval.stats.correlation.pair_counts import PairCounts
from metaeval.stats.correlation.reweighted_rows import Draws, ReweightedRows, ValueCounts, sum_table
from metaeval.stats.groups import Groups

# Whole numbers below it are exact in single precision, which is twice as fast as double.
EXACT_IN_SINGLE = 2**24


class ReweightedPairs:
    """The pair counts of each group in every resample. Copies of a row tie on both sides."""

    def __init__(self, rows: ReweightedRows) -> None:
        self._rows = rows
        label_ranks = rows.label_codes - rows.groups.spread(rows.groups.smallest(rows.label_codes))
        self._alike_labels = ValueCounts(rows, rows.label_codes)
        self._alike_scores = self._alike_both = ValueCounts(rows, rows.score_codes)
        if not rows.are_scores_distinct:
            both_keys = rows.score_codes * (int(label_ranks.max()) + 1) + label_ranks
            self._alike_both = ValueCounts(rows, np.unique(both_keys, return_inverse=True)[1])
        self._inversions = tuple(inversions_by_bit(rows, label_ranks))

    def __call__(self, drawn: Draws) -> PairCounts:
        """Return the pair counts; every field is (groups, resamples)."""
        sizes = self._rows.sizes(drawn)
        discordant = np.zeros_like(sizes)
        for inversions in self._inversions:
            inversions.add_to(discordant, drawn)
        pairs = sizes * (sizes - 1) / 2
        tied_labels = (self._alike_labels.squares(drawn) - sizes) / 2
        tied_scores = tied_both = (self._alike_scores.squares(drawn) - sizes) / 2
        if self._alike_both is not self._alike_scores:
            tied_both = (self._alike_both.squares(drawn) - sizes) / 2
        return PairCounts(
            concordant=pairs - discordant - tied_labels - tied_scores + tied_both,
            discordant=discordant,
            tied_labels_only=tied_labels - tied_both,
            tied_scores_only=tied_scores - tied_both,
            tied_both=tied_both,
        )


class Inversions:
    """Pairs of a high row before a low one of the same block.

    Rows of a block on the same side that follow each other are one run; in each block runs of high and of
    low rows take turns, beginning high and ending low.

    Parameters
    ----------
    units, groups, blocks : (rows,) of each row, sorted by block, blocks by group.
    is_high : (rows,) the side.
    """

    def __init__(self, units: Ints, unit_count: int, groups: Ints, blocks: Ints, is_high: Bools) -> None:
        begins = np.ones(len(units), dtype=bool)
        begins[1:] = (np.diff(blocks) != 0) | (is_high[1:] != is_high[:-1])
        place = (np.cumsum(begins) - 1) // 2  # of a run of high rows and of the low ones that follow
        first_high = np.flatnonzero(begins)[::2]
        block_starts = np.flatnonzero(np.diff(blocks[first_high], prepend=-1))
        self._products = OrderedProducts(Groups(np.diff(block_starts, append=len(first_high))))
        group_of_block = groups[first_high[block_starts]]
        self._group_starts = np.flatnonzero(np.diff(group_of_block, prepend=-1))
        self._groups = group_of_block[self._group_starts]

        table_row = np.argsort(self._products.order)[place]
        pieces = self._products.piece_of_place[place]
        self._high, self._low = (
            sum_table(table_row[side], len(first_high), units[side], unit_count).astype(np.float32)
            for side in (is_high, ~is_high)
        )
        self._most_pairs = int((np.bincount(pieces[is_high]) * np.bincount(pieces[~is_high])).max())

    def add_to(self, discordant: Floats, drawn: Draws) -> None:
        """Add the pairs to `discordant`, (groups, resamples)."""
        if self._most_pairs * drawn.most**2 < EXACT_IN_SINGLE:
            high, low = (table @ drawn.in_single_precision for table in (self._high, self._low))
        else:
            high, low = (table.astype(np.float64) @ drawn.times for table in (self._high, self._low))
        found = self._products.sums(high, low)
        discordant[self._groups] += np.add.reduceat(found, self._group_starts)


def inversions_by_bit(rows: ReweightedRows, ranks: Ints) -> Iterator[Inversions]:
    """Yield discordant pairs by the highest bit in which the label ranks differ.

    `ranks` (rows,) are the ranks of the labels.

    In the order of group, score and label a higher label before a lower one is a discordant pair.
    As in `pair_counts.inversions`, rows whose ranks agree in all higher bits form a block.
    """
    if rows.are_scores_distinct:
        order = np.empty_like(ranks)
        order[rows.score_codes] = np.arange(len(ranks))
    else:
        order = np.argsort(rows.score_codes * (int(ranks.max()) + 1) + ranks)
    ranks, groups, units = ranks[order], rows.groups.of_row[order], rows.units[order]
    for bit in range(int(ranks.max()).bit_length()):
        blocks = groups * (int(ranks.max()) + 1) + (ranks >> (bit + 1))
        # Whole numbers of few bits are sorted in one pass.
        by_block = np.argsort(blocks.astype(np.min_scalar_type(blocks.max())), kind="stable")
        blocks = blocks[by_block]
        is_high = ((ranks >> bit) & 1 == 1)[by_block]
        starts = np.flatnonzero(np.diff(blocks, prepend=-1))
        of_block = Groups(np.diff(starts, append=len(blocks)))
        highs = of_block.spread(of_block.total(is_high.astype(np.int64)))
        highs_before = np.cumsum(is_high) - is_high
        highs_before -= of_block.spread(highs_before[of_block.starts])
        lows_before = np.arange(len(ranks)) - of_block.spread(of_block.starts) - highs_before
        lows = of_block.spread(of_block.sizes) - highs
        counts = np.where(is_high, lows_before < lows, highs_before > 0)
        if counts.any():
            chosen = by_block[counts]
            yield Inversions(units[chosen], rows.unit_count, groups[chosen], blocks[counts], is_high[counts])
