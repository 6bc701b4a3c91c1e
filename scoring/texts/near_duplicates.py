"""Texts that nearly repeat another, such as an article in two sources, or an article and its beginning."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from scoring.texts.tokens import unicode_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LENGTH = 5
"""Words of a 5-gram."""
FIFTHS = 4
"""Near-duplicates share more than so many fifths of the 5-grams of the shorter text."""


def near_duplicates(texts: Sequence[str]) -> list[int]:
    """Return for each text the place of the first text of its group, which is its own if it is alone.

    Two texts are near-duplicates if more than 80% of the distinct 5-grams of words of the shorter one, which
    has fewer of them, are in the other. A near-duplicate of a near-duplicate is in the same group. A text of
    fewer than five words has no near-duplicates.
    """
    import numpy as np

    grams = _five_grams(texts)
    texts_with = grams.tocsc()
    sizes, frequencies = grams.sum(axis=1), np.diff(texts_with.indptr)
    groups = np.arange(len(texts))
    is_own = np.zeros(grams.shape[1], dtype=np.int32)
    # Sets whose texts are all in one group need not be looked up again.
    is_settled = frequencies == 1
    for text, size in enumerate(sizes.tolist()):
        row = slice(grams.indptr[text], grams.indptr[text + 1])
        own, weights = grams.indices[row], grams.data[row]
        # A longer near-duplicate lacks fewer 5-grams than this, so it has at least one of the rarest. Looking
        # for these alone saves comparing all texts that share a common sentence.
        fewest = size - FIFTHS * size // 5
        order = np.argsort(frequencies[own], kind="stable")
        before = np.cumsum(weights[order]) - weights[order]
        rarest = own[order[before < fewest]]
        rarest = rarest[~is_settled[rarest]]
        if not rarest.size:
            continue
        found = texts_with[:, rarest]
        others = np.unique(found.indices)
        others = others[(groups[others] != groups[text]) & (sizes[others] >= size)]
        is_own[own] = 1
        repeating = others[5 * (grams[others] @ is_own) > FIFTHS * size]
        is_own[own] = 0
        joined = np.unique(groups[[text, *repeating]])
        groups[np.isin(groups, joined)] = joined[0]
        is_settled[rarest] = np.logical_and.reduceat(groups[found.indices] == groups[text], found.indptr[:-1])
    return groups.tolist()


def _five_grams(texts: Sequence[str]) -> Any:
    """Return a sparse matrix of texts and sets of 5-grams: the size of a set where the text has it, else 0.

    A set has the 5-grams of exactly the same texts, so that texts made from a template have few sets.
    """
    import numpy as np
    from scipy.sparse import csr_array

    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    words = [np.array([numbers[word] for word in unicode_words(each)], dtype=np.int32) for each in texts]
    random = np.random.default_rng(0)
    keys = random.integers(2**64, size=(LENGTH, len(numbers)), dtype=np.uint64)
    hashed = [_hashes(each, keys) for each in words]
    every = np.concatenate([np.array([], dtype=np.uint64), *hashed])
    found, columns = np.unique(every, return_inverse=True)
    ends = np.cumsum([0, *map(len, hashed)])
    text_keys = random.integers(2**64, size=len(texts), dtype=np.uint64)
    texts_of = np.zeros(len(found), dtype=np.uint64)
    np.add.at(texts_of, columns, np.repeat(text_keys, np.diff(ends)))
    sets, set_of = np.unique(texts_of, return_inverse=True)
    ones = np.ones(len(columns), dtype=np.int32)
    matrix = csr_array((ones, set_of[columns], ends), shape=(len(texts), len(sets)))
    matrix.sum_duplicates()
    return matrix


def _hashes(words: "NDArray[np.int32]", keys: "NDArray[np.uint64]") -> "NDArray[np.uint64]":
    """Return a number of 64 bits for each distinct 5-gram; two have the same with a chance of 1 in 2^64."""
    import numpy as np

    grams = max(0, len(words) - LENGTH + 1)
    return np.unique(
        np.bitwise_xor.reduce([keys[place, words[place : place + grams]] for place in range(LENGTH)])
    )
