"""Longest common subsequence with bit vectors: one Python integer holds one row of the dynamic programme.

Hyyrö 2004, "A note on bit-parallel alignment computation". Bit i of a row is 0 where the table grows from
reference word i to i + 1, so a candidate word costs a few operations on integers as long as the reference.
Several references lie side by side in one integer, a spare bit between them, and are searched at once.
"""

from collections.abc import Sequence

Words = Sequence[str]


class SearchableSequences:
    """Sequences of words, indexed for `lcs_lengths` on first use."""

    def __init__(self, sequences: Sequence[Words]) -> None:
        self._sequences = sequences
        self._positions: dict[str, int] = {}
        self._spans: list[int] = []
        self._inside = 0
        self._asked = False

    def lcs_lengths(self, candidate: Words) -> list[int]:
        """Return the length of the longest common subsequence of `candidate` with each sequence."""
        if not self._spans:
            if len(self._sequences) == 1 and not self._asked:
                # A single sequence, an article, may be used only once: indexing the candidate is cheaper.
                self._asked = True
                other = SearchableSequences([candidate])
                other._make_searchable()
                return other.lcs_lengths(self._sequences[0])
            self._make_searchable()
        row = inside = self._inside
        for here in filter(None, map(self._positions.get, candidate)):
            grown = row & here
            if grown:
                row = ((row + grown) | (row ^ grown)) & inside
        lost = inside ^ row
        return [(lost & span).bit_count() for span in self._spans]

    def _make_searchable(self) -> None:
        bit = 1
        for words in self._sequences:
            first = bit
            for word in words:
                self._positions[word] = self._positions.get(word, 0) | bit
                bit <<= 1
            self._spans.append(bit - first)
            bit <<= 1  # takes up the carry of the sequence below
        self._inside = sum(self._spans)


class SearchableSequence:
    """One sequence of words, indexed for `lcs_positions`."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self._positions: dict[str, int] = {}
        for index, word in enumerate(words):
            self._positions[word] = self._positions.get(word, 0) | 1 << index

    def lcs_positions(self, candidate: Words) -> int:
        """Return the positions of one longest common subsequence with `candidate`: bit i for word i.

        Of several longest ones it is that of rouge-score 0.1.2: read from the end, a match is always taken,
        and otherwise a word of the sequence is skipped unless that would lose length.
        """
        full = row = (1 << len(self.words)) - 1
        rows = []
        for word in candidate:
            here = self._positions.get(word, 0)
            grown = row & here
            row = (row + grown) | (row ^ grown)
            rows.append((here, row))
        taken = 0
        ahead = full  # positions not yet passed
        for here, row in reversed(rows):
            stops = (here | ~row) & ahead
            if not stops:
                break
            top = 1 << (stops.bit_length() - 1)
            if here & top:
                taken |= top
                ahead = top - 1
            else:
                ahead = 2 * top - 1
        return taken
