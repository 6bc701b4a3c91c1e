"""Texts that nearly repeat another, such as an article in two sources, or an article and its beginning."""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from scoring.texts.tokens import unicode_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LENGTH = 5
"""Words of a 5-gram."""
FIFTHS = 4
"""Near-duplicates share more than so many fifths of the 5-grams of the shorter text."""
PLACES = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F)
"""Odd numbers by which the hashes of a 5-gram's words are multiplied, one for each place."""
SKETCHED = 64
"""The most 5-grams in a sketch."""
SHORTEST = 8
"""Texts below one in so many of a seen text's 5-grams are not compared with its sketch."""


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


def sketch(text: str) -> str:
    """Return how many 5-grams a text has, and a fixed random sample of their hashes, in Base64.

    The sample has the `SKETCHED` smallest hashes, so that of two texts with the same 5-grams it is the same.

    Source: A. Broder, "On the resemblance and containment of documents", 1997.
    """
    import numpy as np

    hashes = _short_hashes(text)
    return b64encode(np.array([len(hashes), *hashes[:SKETCHED]], dtype="<u4").tobytes()).decode()


class Sketches:
    """Holds (`text in sketches`) the near-duplicates of the sketched texts, as far as samples tell.

    Shared 5-grams are estimated from the samples: of texts that share nine tenths about 1 in 100 is missed,
    of those that share seven tenths about 1 in 30 is found.
    """

    def __init__(self, sketches: Iterable[str]) -> None:
        self._sketches = tuple(sketches)

    def __contains__(self, text: object) -> bool:
        import numpy as np

        if not self._sketches:
            return False  # most models have none, and hashing a text takes half a millisecond
        samples, own = self._samples, _short_hashes(str(text))
        first, end = (np.searchsorted(samples.hashes, own, side) for side in ("left", "right"))
        ends = np.cumsum(end - first)
        found = np.repeat(end - ends, end - first) + np.arange(ends[-1] if ends.size else 0)
        sizes, sampled = samples.sizes, np.clip(samples.sizes, 1, SKETCHED)
        shared = np.bincount(samples.owners[found], minlength=len(sizes)) / sampled
        is_known = (sizes <= SKETCHED) | (sizes <= SHORTEST * len(own))
        return bool((is_known & (5 * shared * sizes > FIFTHS * np.minimum(sizes, len(own)))).any())

    def check(self) -> None:
        """Raise ValueError if one of them is no sketch; else this is found at first use."""
        _ = self._samples

    @cached_property
    def _samples(self) -> "_Samples":
        import numpy as np

        read = [np.frombuffer(b64decode(each, validate=True), dtype="<u4") for each in self._sketches]
        if any(not len(each) or len(each) != 1 + min(each[0], SKETCHED) for each in read):
            raise ValueError("a sketch has another length than it states")
        sizes = np.array([each[0] for each in read], dtype=np.int64)
        hashes = np.concatenate([np.array([], dtype="<u4"), *(each[1:] for each in read)])
        order = np.argsort(hashes, kind="stable")
        owners = np.repeat(np.arange(len(read)), np.minimum(sizes, SKETCHED))
        return _Samples(sizes, hashes[order], owners[order])


class _Samples(NamedTuple):
    sizes: "NDArray[np.int64]"
    """(texts,) 5-grams of each sketched text."""
    hashes: "NDArray[np.uint32]"
    """(hashes,) all samples together, ascending."""
    owners: "NDArray[np.int64]"
    """(hashes,) the text of each."""


def _short_hashes(text: str) -> "NDArray[np.uint32]":
    """Return the upper halves of the 5-grams' hashes, ascending."""
    import numpy as np

    return np.unique((_hashes(text) >> np.uint64(32)).astype(np.uint32))


def _five_grams(texts: Sequence[str]) -> Any:
    """Return a sparse matrix of texts and sets of 5-grams: the size of a set where the text has it, else 0.

    A set has the 5-grams of exactly the same texts, so that texts made from a template have few sets.
    """
    import numpy as np
    from scipy.sparse import csr_array

    hashed = [_hashes(each) for each in texts]
    every = np.concatenate([np.array([], dtype=np.uint64), *hashed])
    found, columns = np.unique(every, return_inverse=True)
    ends = np.cumsum([0, *map(len, hashed)])
    text_keys = np.random.default_rng(0).integers(2**64, size=len(texts), dtype=np.uint64)
    texts_of = np.zeros(len(found), dtype=np.uint64)
    np.add.at(texts_of, columns, np.repeat(text_keys, np.diff(ends)))
    sets, set_of = np.unique(texts_of, return_inverse=True)
    ones = np.ones(len(columns), dtype=np.int32)
    matrix = csr_array((ones, set_of[columns], ends), shape=(len(texts), len(sets)))
    matrix.sum_duplicates()
    return matrix


def _hashes(text: str) -> "NDArray[np.uint64]":
    """Return a number of 64 bits for each distinct 5-gram; two have the same with a chance of 1 in 2^64."""
    import numpy as np

    words = np.array([_word_hash(word) for word in unicode_words(text)], dtype=np.uint64)
    grams = max(0, len(words) - LENGTH + 1)
    parts = (words[place : place + grams] * np.uint64(factor) for place, factor in enumerate(PLACES))
    return np.unique(np.sum(list(parts), axis=0, dtype=np.uint64))


@lru_cache(maxsize=100_000)
def _word_hash(word: str) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
