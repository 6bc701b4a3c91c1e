"""The words that BLANC hides, and how a sentence and a summary fit into one input. Needs no model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

CONTINUES = "##"
"""WordPiece's mark of a piece that continues a word."""


@dataclass(frozen=True, slots=True)
class Cloze:
    """The ids of one input with special ones, the positions of hidden words, and their ids."""

    ids: tuple[int, ...]
    hidden: tuple[int, ...]
    answers: tuple[int, ...]


class Masks:
    """Masks `hidden` of every `gap` consecutive pieces at a time, if they are long enough.

    `shortest` has the minimum lengths, in characters, of whole words, first pieces of split words, and later
    pieces.
    """

    def __init__(self, tokenizer: Any, gap: int, hidden: int, shortest: tuple[int, int, int]) -> None:
        names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
        self._gap, self._hidden, self._shortest = gap, hidden, shortest
        self._continues = [name.startswith(CONTINUES) for name in names]
        self._lengths = [len(name.removeprefix(CONTINUES)) for name in names]

    def of(self, pieces: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the positions masked together: one tuple for each shift that masks any."""
        gap = min(self._gap, len(pieces))
        long_enough = self._long_enough(pieces)
        shifts = (
            tuple(
                position
                for position, long in enumerate(long_enough)
                if long and (position - shift) % gap < self._hidden
            )
            for shift in range(gap)
        )
        return [positions for positions in shifts if positions]

    def _long_enough(self, pieces: Sequence[int]) -> list[bool]:
        word, first_piece, later_piece = self._shortest
        continues = [self._continues[piece] for piece in pieces]
        shortest = (
            later_piece if later else first_piece if is_split else word
            for later, is_split in zip(continues, [*continues[1:], False], strict=False)
        )
        return [self._lengths[piece] >= least for piece, least in zip(pieces, shortest, strict=True)]


def cloze(
    before: Sequence[int], pieces: Sequence[int], after: Sequence[int], positions: Sequence[int], mask: int
) -> Cloze:
    """Return `pieces` between the ids around them, those at `positions` replaced by `mask`."""
    ids = [*before, *pieces, *after]
    hidden = tuple(len(before) + position for position in positions)
    for position in hidden:
        ids[position] = mask
    return Cloze(tuple(ids), hidden, tuple(pieces[position] for position in positions))


def fitted(
    sentence: Sequence[int], summary: Sequence[Sequence[int]], room: int, least: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Cut a sentence and the sentences of a summary to at most `room` ids together.

    First the sentence is cut from its end, but not below `least`; then whole sentences are cut from the end
    of the summary; if not even its first one fits, that one is cut from its beginning.
    """
    excess = len(sentence) + sum(map(len, summary)) - room
    cut = tuple(sentence[: min(room, max(len(sentence) - max(0, excess), least))])
    left = room - len(cut)
    kept: list[Sequence[int]] = []
    for each in summary:
        if len(each) + sum(map(len, kept)) > left:
            break
        kept.append(each)
    if not kept and summary:
        kept = [summary[0][len(summary[0]) - left :]]
    return cut, tuple(chain.from_iterable(kept))


def parts(pieces: Sequence[int], size: int, stride: int) -> Iterator[Sequence[int]]:
    """Yield parts of `size` ids, one every `stride`, to learn from.

    What precedes a part within the first one is a part of its own, so that the beginning occurs as often as
    the rest.
    """
    for start in range(0, len(pieces), stride):
        yield pieces[start : start + size]
        if 0 < start < size:
            yield pieces[:start]
