"""Sums of products over the ordered pairs of a sequence, for many resamples at once.

Resamples change how often each row counts, not the order of rows. The order is computed once; each step below
is one vector operation over all resamples and many stretches of the sequence.
"""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.groups import Groups

# Longer sequences are cut into pieces of this length, which are then gone through side by side.
PIECE = 32


class OrderedProducts:
    """Sums over the places i < j of each sequence of first[i] · second[j].

    A share of the products with i = j is added.

    Parameters
    ----------
    sequences : the places, in order, as consecutive groups of one place or more.
    """

    def __init__(self, sequences: Groups) -> None:
        self._pieces = Groups(-(-sequences.sizes // PIECE))
        place = np.arange(int(sequences.sizes.sum())) - sequences.spread(sequences.starts)
        self.piece_of_place: Ints = sequences.spread(self._pieces.starts) + place // PIECE
        sizes = np.bincount(self.piece_of_place)
        self._rank_of_piece = np.empty_like(sizes)
        self._rank_of_piece[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        step = place % PIECE
        self._places_at_step = np.bincount(step).tolist()
        # Within a step the places of the longest pieces come first, so those that go on are at the front.
        self.order: Ints = np.argsort(step * len(sizes) + self._rank_of_piece[self.piece_of_place])
        """(places,) the order in which `sums` wants the rows of its arguments."""

    def sums(
        self, first: npt.NDArray[np.floating], second: npt.NDArray[np.floating], *, own: float = 1.0
    ) -> Floats:
        """Return the sums, (sequences, resamples).

        `first` and `second` are (places, resamples), in `order`.

        `own` is the share of the products of a place's own two numbers that counts.
        Computed in the precision of the arguments within each piece, and in double precision beyond.
        """
        shape = self._places_at_step[0], first.shape[1]
        first_so_far = np.zeros(shape, first.dtype)
        second_so_far = np.zeros(shape, second.dtype)
        within, product = np.zeros(shape, second.dtype), np.empty(shape, second.dtype)
        start = 0
        for count in self._places_at_step:
            rows = slice(start, start + count)
            first_so_far[:count] += first[rows]
            np.multiply(first_so_far[:count], second[rows], out=product[:count])
            within[:count] += product[:count]
            if own != 1:
                np.multiply(first[rows], second[rows], out=product[:count])
                product[:count] *= 1 - own
                within[:count] -= product[:count]
            if self._between is not None:
                second_so_far[:count] += second[rows]
            start += count
        sums = self._pieces.total(within[self._rank_of_piece].astype(np.float64))
        if self._between is not None:
            first_total = first_so_far[self._rank_of_piece].astype(np.float64)
            second_total = second_so_far[self._rank_of_piece].astype(np.float64)
            order = self._between.order
            sums += self._between.sums(first_total[order], second_total[order])
            sums -= self._pieces.total(first_total * second_total)
        return sums

    @cached_property
    def _between(self) -> "OrderedProducts | None":
        """The pieces of each sequence, as places; None if every sequence is one piece."""
        return OrderedProducts(self._pieces) if (self._pieces.sizes > 1).any() else None
