"""What two texts have in common, counted as the variants of ROUGE count (Lin 2004, sections 2 to 4).

One summary is compared with several targets at once: its references, or its article alone. Both are prepared
first, so that what several summaries share is prepared once.
"""

import struct
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

from scoring.texts.lcs import SearchableSequence, SearchableSequences

Words = list[str]
Text = list[Words]
"""Sentences; where these do not matter, the whole text as one."""

_FIELD_BITS = 32  # "I" in struct


class Prepared(NamedTuple):
    """One or several texts made ready: how many words (or pairs) each has, and a form that is fast."""

    sizes: list[int]
    content: Any


class Variant(NamedTuple):
    """How one variant prepares a summary (a list of one text) and its targets, and counts what they share."""

    summary: Callable[[list[Text]], Prepared]
    targets: Callable[[list[Text]], Prepared]
    common: Callable[[Prepared, Prepared], list[int]]
    by_sentence: bool = False


def _words_once(texts: list[Text]) -> Prepared:
    [[words]] = texts
    return Prepared([len(words)], _occurrences(words))


def _pairs_once(texts: list[Text]) -> Prepared:
    [[words]] = texts
    pairs = _pairs(words)
    return Prepared([len(pairs)], _occurrences(pairs))


def _pairs(words: Words) -> Words:
    """Pairs of neighbours as single texts, which cost the garbage collector less than tuples."""
    return [f"{one} {next_one}" for one, next_one in pairwise(words)]


def _occurrences(words: Words) -> set[str]:
    """A multiset as a set: the second x is "x 1", the third "x 2". Two texts share what both sets hold."""
    occurrences: set[str] = set()
    add = occurrences.add
    again = [word for word in words if word in occurrences or add(word)]
    counts: dict[str, int] = {}
    for word in again:
        counts[word] = count = counts.get(word, 0) + 1
        add(f"{word} {count}")
    return occurrences


def _searchable_words(texts: list[Text]) -> Prepared:
    return _searchable_occurrences([words for [words] in texts])


def _searchable_pairs(texts: list[Text]) -> Prepared:
    return _searchable_occurrences([_pairs(words) for [words] in texts])


def _searchable_occurrences(texts: list[Words]) -> Prepared:
    """Occurrence -> integer with a field for each text, 1 where the text has it: adding up counts for all."""
    fields: dict[str, int] = {}
    for index, words in enumerate(texts):
        one = 1 << index * _FIELD_BITS
        for occurrence in _occurrences(words):
            fields[occurrence] = fields.get(occurrence, 0) + one
    return Prepared([len(words) for words in texts], fields)


def _common_occurrences(summary: Prepared, targets: Prepared) -> list[int]:
    counts = sum(filter(None, map(targets.content.get, summary.content)))
    fields = len(targets.sizes)
    return list(struct.unpack(f"<{fields}I", counts.to_bytes(4 * fields, "little")))


def _sequence(texts: list[Text]) -> Prepared:
    [[words]] = texts
    return Prepared([len(words)], words)


def _searchable_sequences(texts: list[Text]) -> Prepared:
    return Prepared([len(words) for [words] in texts], SearchableSequences([words for [words] in texts]))


def _longest_common(summary: Prepared, targets: Prepared) -> list[int]:
    lengths: list[int] = targets.content.lcs_lengths(summary.content)
    return lengths


def _sentence_sequences(texts: list[Text]) -> Prepared:
    [sentences] = texts
    return Prepared(_total_words(texts), (sentences, Counter(word for each in sentences for word in each)))


def _searchable_sentences(texts: list[Text]) -> Prepared:
    return Prepared(_total_words(texts), [[SearchableSequence(each) for each in text] for text in texts])


def _total_words(texts: list[Text]) -> list[int]:
    return [sum(map(len, sentences)) for sentences in texts]


def _union_common(summary: Prepared, targets: Prepared) -> list[int]:
    sentences, available = summary.content
    return [_union(target, sentences, available) for target in targets.content]


def _union(target: list[SearchableSequence], candidates: list[Words], available: Counter[str]) -> int:
    """Words of the target in the union of common subsequences; each at most as often as in the summary."""
    found: Counter[str] = Counter()
    for sentence in target:
        positions = 0
        for candidate in candidates:
            positions |= sentence.lcs_positions(candidate)
        found.update([sentence.words[each] for each in _bits(positions)])
    return sum([min(count, available[word]) for word, count in found.items()])


def _bits(number: int) -> Iterable[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


VARIANTS = {
    "1": Variant(_words_once, _searchable_words, _common_occurrences),
    "2": Variant(_pairs_once, _searchable_pairs, _common_occurrences),
    "L": Variant(_sequence, _searchable_sequences, _longest_common),
    "Lsum": Variant(_sentence_sequences, _searchable_sentences, _union_common, by_sentence=True),
}
