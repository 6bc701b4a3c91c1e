"""Which words BLANC hides, and what of a sentence and a summary goes into one input. Needs no model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

CONTINUES = "##"
"""What WordPiece writes before a piece that does not begin a word."""


@dataclass(frozen=True, slots=True)
class Cloze:
    """The ids of one input, special ones included; positions of hidden words in it, and their ids."""

    ids: tuple[int, ...]
    hidden: tuple[int, ...]
    answers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MaskRule:
    """Of `gap` consecutive pieces `hidden` are masked at a time, those that have the length, in characters.

    The length is asked of whole words, of first pieces of split words, and of their later pieces.
    """

    gap: int
    hidden: int
    shortest_word: int
    shortest_first_piece: int
    shortest_later_piece: int


class Masks:
    """A rule for the pieces of one tokenizer."""

    def __init__(self, rule: MaskRule, tokenizer: Any) -> None:
        names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
        self._rule = rule
        self._continues = [name.startswith(CONTINUES) for name in names]
        self._lengths = [len(name.removeprefix(CONTINUES)) for name in names]

    def of(self, pieces: Sequence[int]) -> list[tuple[int, ...]]:
        """Positions in `pieces` that are masked together: one tuple for each shift that masks any."""
        gap = min(self._rule.gap, len(pieces))
        long_enough = self._long_enough(pieces)
        shifts = (
            tuple(
                position
                for position, long in enumerate(long_enough)
                if long and (position - shift) % gap < self._rule.hidden
            )
            for shift in range(gap)
        )
        return [positions for positions in shifts if positions]

    def _long_enough(self, pieces: Sequence[int]) -> list[bool]:
        rule = self._rule
        continues = [self._continues[piece] for piece in pieces]
        shortest = (
            rule.shortest_later_piece
            if later
            else rule.shortest_first_piece
            if is_split
            else rule.shortest_word
            for later, is_split in zip(continues, [*continues[1:], False], strict=False)
        )
        return [self._lengths[piece] >= least for piece, least in zip(pieces, shortest, strict=True)]


def cloze(
    before: Sequence[int], pieces: Sequence[int], after: Sequence[int], positions: Sequence[int], mask: int
) -> Cloze:
    """`pieces` between the ids around them, those at `positions` replaced by `mask`."""
    ids = [*before, *pieces, *after]
    hidden = tuple(len(before) + position for position in positions)
    for position in hidden:
        ids[position] = mask
    return Cloze(tuple(ids), hidden, tuple(pieces[position] for position in positions))


def fitted(
    sentence: Sequence[int], summary: Sequence[Sequence[int]], room: int, least: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A sentence and the sentences of a summary cut so that both together have at most `room` ids.

    First the sentence is cut from its end, but not below `least`; then whole sentences are cut from the end
    of the summary; and if not even its first one fits, that one from its beginning.
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
    """What is learnt from: parts of `size` ids, one every `stride`, and what comes before each in the first
    part, so that its beginning is met as often as the rest."""
    for start in range(0, len(pieces), stride):
        yield pieces[start : start + size]
        if 0 < start < size:
            yield pieces[:start]
