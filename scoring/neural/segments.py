"""Texts that a model reads as one sequence: joined, and cut together if they are too long."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Joined:
    """Ids of all texts end to end, with special ids, and the number of ids of each text."""

    ids: tuple[int, ...]
    lengths: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def numbers(self) -> list[int]:
        """The number of the text that each id belongs to, from 0."""
        return [number for number, length in enumerate(self.lengths) for _ in range(length)]


@dataclass(frozen=True, slots=True)
class Marks:
    """Special ids around texts that an encoder reads as one sequence."""

    opening: int
    """The id before the first text."""
    between: tuple[int, ...]
    """Ids between two texts: the first ends the one, any others begin the other."""
    closing: int
    """The id after the last text."""


def joined(
    texts: Sequence[Sequence[int]], marks: Marks, text_limit: int, joint_limit: int
) -> tuple[Joined, tuple[float, ...]]:
    """Join two or three texts of ids, and return the shares of them that are read, too.

    RoBERTa's marks give `<s> a </s></s> b </s></s> c </s>`, BERT's `[CLS] a [SEP] b [SEP] c [SEP]`. A text
    takes at most `text_limit` ids, all together at most `joint_limit`, special ones included; what is cut
    keeps its beginning and its end mark. Shares are of each text's own ids.
    """
    begins = [(marks.opening,), *[marks.between[1:]] * (len(texts) - 1)]
    ends = [*[marks.between[0]] * (len(texts) - 1), marks.closing]
    segments = [
        (*begin, *text[: text_limit - len(begin) - 1]) for begin, text in zip(begins, texts, strict=True)
    ]
    lengths = cut_lengths([len(each) + 1 for each in segments], joint_limit)
    ids = tuple(
        token
        for segment, length, end in zip(segments, lengths, ends, strict=True)
        for token in (*segment[: length - 1], end)
    )
    shares = tuple(
        max(0, length - len(begin) - 1) / len(text) if text else 1.0
        for begin, text, length in zip(begins, texts, lengths, strict=True)
    )
    return Joined(ids, tuple(lengths)), shares


def cut_lengths(lengths: Sequence[int], limit: int) -> list[int]:
    """Cut the lengths of two or three texts to `limit` in all, by the rule of UniTE's authors.

    If every text is longer than its equal share, all lose the same number of ids. Otherwise the longest is
    cut in favour of the others; of three texts first down to the second, then both down to the shortest, then
    all.
    """
    count, excess = len(lengths), sum(lengths) - limit
    if excess <= 0:
        return list(lengths)
    equal_loss = -(-excess // count)
    if min(lengths) > max(limit // count, equal_loss):
        return [length - equal_loss for length in lengths]
    return _two_cut(lengths, limit) if count == 2 else _three_cut(lengths, limit)


def _two_cut(lengths: Sequence[int], limit: int) -> list[int]:
    room = limit - min(lengths)
    if room < 2:  # nothing of the longest would be left; the rule omits this case
        return [limit // 2] * 2
    longest = max(lengths)
    return [room if length == longest else length for length in lengths]


def _three_cut(lengths: Sequence[int], limit: int) -> list[int]:
    _, second, shortest = sorted(lengths, reverse=True)
    highest = limit - second - shortest
    if highest <= second:
        highest = (limit - shortest) // 2
        if highest <= shortest:
            highest = limit // 3
    return [min(length, highest) for length in lengths]
