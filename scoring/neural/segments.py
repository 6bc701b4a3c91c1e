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


def joined(
    texts: Sequence[Sequence[int]], opening: int, closing: int, text_limit: int, joint_limit: int
) -> tuple[Joined, tuple[float, ...]]:
    """Join two or three texts of ids as `<s> a </s></s> b </s></s> c </s>`; also return shares read.

    `opening` is the id of `<s>`, `closing` that of `</s>`, with which later texts begin too. A text takes at
    most `text_limit` ids, all together at most `joint_limit`, special ones included; what is cut keeps its
    beginning and its end mark. Shares are of each text's own ids.
    """
    segments = [
        (closing if number else opening, *text[: text_limit - 2], closing)
        for number, text in enumerate(texts)
    ]
    lengths = cut_lengths([len(each) for each in segments], joint_limit)
    ids = tuple(
        token
        for segment, length in zip(segments, lengths, strict=True)
        for token in (*segment[: length - 1], closing)
    )
    shares = tuple(
        max(0, length - 2) / len(text) if text else 1.0 for text, length in zip(texts, lengths, strict=True)
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
