"""Counts of pairs of summaries within each group, by how people and scores order them."""

from dataclasses import dataclass

import numpy as np

from metaeval.stats.arrays import Floats, Ints, order_of, steps
from metaeval.stats.groups import Groups
from metaeval.stats.ranks import value_codes


@dataclass(frozen=True)
class PairCounts:
    """The n(n - 1)/2 pairs of each group; fields are (groups,) or (groups, resamples)."""

    concordant: Ints | Floats
    discordant: Ints | Floats
    tied_labels_only: Ints | Floats
    tied_scores_only: Ints | Floats
    tied_both: Ints | Floats


def pair_counts(labels: Floats, scores: Floats, groups: Groups) -> PairCounts:
    """Count the pairs of every group.

    Knight's method (Journal of the American Statistical Association 61, 1966): sorted by score, the
    discordant pairs are the inversions of the labels. O(n log n) in time, O(n) in memory.
    """
    label_codes = value_codes(labels, groups)
    score_codes = value_codes(scores, groups)
    label_ranks = label_codes - groups.spread(groups.smallest(label_codes))
    # The score codes are already distinct between groups, so these are sorted by group, score, label.
    both_keys = score_codes * (label_ranks.max() + 1) + label_ranks
    order = order_of(both_keys)

    tied_labels = _tied_pairs(label_codes, groups)
    tied_scores = _tied_pairs(score_codes, groups)
    tied_both = _tied_pairs(steps(both_keys[order]), groups)
    discordant = inversions(label_ranks[order], groups)
    pairs = groups.sizes * (groups.sizes - 1) // 2
    return PairCounts(
        concordant=pairs - discordant - tied_labels - tied_scores + tied_both,
        discordant=discordant,
        tied_labels_only=tied_labels - tied_both,
        tied_scores_only=tied_scores - tied_both,
        tied_both=tied_both,
    )


def _tied_pairs(codes: Ints, groups: Groups) -> Ints:
    """Count the pairs of rows with the same code, (groups,)."""
    others_alike = np.bincount(codes)[codes] - 1
    return groups.total(others_alike) // 2


def inversions(ranks: Ints, groups: Groups) -> Ints:
    """Count the pairs of rows in each group whose earlier row has the higher rank, (groups,).

    `ranks` are whole numbers from 0. The highest bit of the two ranks that differs tells which is higher.
    So, bit by bit from the top, rows that agree in all bits so far form a block; in each block the rows
    with a 1 before a row with a 0 are inversions; then the block is split, in order, into 0s and 1s.
    """
    found = np.zeros_like(groups.sizes)
    blocks = groups
    for bit in reversed(range(int(ranks.max()).bit_length())):
        high = (ranks >> bit) & 1
        highs_before = np.cumsum(high) - high
        highs_before -= blocks.spread(highs_before[blocks.starts])
        found += groups.total((1 - high) * highs_before)

        lows = blocks.total(1 - high)
        place = np.arange(len(ranks))
        place_of_high = blocks.spread(blocks.starts + lows) + highs_before
        ranks_split = np.empty_like(ranks)
        ranks_split[np.where(high == 1, place_of_high, place - highs_before)] = ranks
        ranks = ranks_split
        sizes = np.column_stack([lows, blocks.sizes - lows]).ravel()
        blocks = Groups(sizes[sizes > 0])
    return found
