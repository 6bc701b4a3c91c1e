"""The overlap of two texts, by the variants of ROUGE (Lin 2004, sections 2 to 4).

A summary is compared with several targets at once: its references, or its article alone. Both are prepared
first, so that what several summaries share is prepared once.
"""

import struct
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from scoring.texts.lcs import SearchableSequence, SearchableSequences

Words = list[str]
Text = list[Words]
"""Sentences; the whole text as one where sentences do not matter."""

Units = Callable[[Words], Words]
"""What is counted in a text: its words, or pairs of them."""

_FIELD_BITS = 32  # "I" in struct


class Prepared(NamedTuple):
    """Prepared texts: the number of words (or pairs) in each, and an indexed form."""

    sizes: list[int]
    content: Any


class Variant(NamedTuple):
    """How one variant prepares a summary (a list of one text) and its targets, and counts overlap."""

    summary: Callable[[list[Text]], Prepared]
    targets: Callable[[list[Text]], Prepared]
    common: Callable[[Prepared, Prepared], list[int]]
    by_sentence: bool = False


def _once(texts: list[Text], units: Units) -> Prepared:
    [[words]] = texts
    found = units(words)
    return Prepared([len(found)], _occurrences(found))


def _pairs(words: Words) -> Words:
    """Return word pairs as single texts, which cost the garbage collector less than tuples."""
    return [f"{one} {next_one}" for one, next_one in pairwise(words)]


def _occurrences(words: Words) -> set[str]:
    """Return a multiset as a set: the second x is "x 1", the third "x 2".

    The overlap of two texts is the intersection of their sets.
    """
    occurrences: set[str] = set()
    add = occurrences.add
    again = [word for word in words if word in occurrences or add(word)]
    counts: dict[str, int] = {}
    for word in again:
        counts[word] = count = counts.get(word, 0) + 1
        add(f"{word} {count}")
    return occurrences


def _searchable(texts: list[Text], units: Units) -> Prepared:
    """Return occurrence -> integer with one field per text, 1 where the text has it.

    The sum of these integers counts the overlap with all texts.
    """
    found = [units(words) for [words] in texts]
    fields: dict[str, int] = {}
    for index, each in enumerate(found):
        one = 1 << index * _FIELD_BITS
        for occurrence in _occurrences(each):
            fields[occurrence] = fields.get(occurrence, 0) + one
    return Prepared(list(map(len, found)), fields)


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
    """Return the target's words in the union of common subsequences.

    Each counts at most as often as in the summary.
    """
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
    "1": Variant(partial(_once, units=list), partial(_searchable, units=list), _common_occurrences),
    "2": Variant(partial(_once, units=_pairs), partial(_searchable, units=_pairs), _common_occurrences),
    "L": Variant(_sequence, _searchable_sequences, _longest_common),
    "Lsum": Variant(_sentence_sequences, _searchable_sentences, _union_common, by_sentence=True),
}
