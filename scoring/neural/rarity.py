"""Weights of tokens by their rarity (idf)."""

from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

TEXTS_AT_A_TIME = 1024


def weights_by_rarity(
    texts: Iterable[str], ids_of: Callable[[list[str]], Iterable[Iterable[int]]], vocabulary: int
) -> NDArray[np.float64]:
    """Return ln((N + 1) / (n + 1)) for each id of the vocabulary, which n of the N texts have.

    `ids_of` gives the ids of some texts.
    """
    having = np.zeros(vocabulary)
    total = 0
    remaining = iter(texts)
    while some := list(islice(remaining, TEXTS_AT_A_TIME)):
        total += len(some)
        for ids in ids_of(some):
            having[list(set(ids))] += 1
    weights: NDArray[np.float64] = np.log((total + 1) / (having + 1))
    return weights
