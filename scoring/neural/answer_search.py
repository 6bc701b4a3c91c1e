"""Answers from texts of any length: the likeliest span in any window, as for SQuAD."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.nn.functional import pad

from scoring.neural.extractive_qa import Asked, ExtractiveReader
from scoring.neural.likeliest import likeliest

NONE = ""
"""No answer."""


LONGEST = 30
"""The most ids of an answer."""


@dataclass(frozen=True, slots=True)
class Span:
    """Ids of the text from `first` to `last`, inclusive, with the sum of the two logits."""

    score: float
    first: int
    last: int


def find_answers(
    reader: ExtractiveReader,
    asked: Sequence[tuple[str, str]],
    *,
    may_be_none: bool,
    window: int = 384,
    stride: int = 128,
) -> list[str | None]:
    """Return the answer to each question, as it stands in its text, or NONE; None if out of memory.

    `window` is the longest input in ids, `stride` the distance of windows; a question is cut to half of one.
    With `may_be_none` there is no answer if in every window begin and end at the first special token are
    likelier than any span, as models trained on SQuAD 2 express it.
    """
    windows = [_windows(reader, question, text, window, stride) for question, text in asked]
    logits = iter(reader.logits([each for some in windows for each in some]))
    return [
        _answer(reader, text, each, [next(logits) for _ in each], may_be_none)
        for (_, text), each in zip(asked, windows, strict=True)
    ]


def best_span(logits: torch.Tensor, longest: int) -> Span:
    """Return the span of at most `longest` ids with the highest sum of `logits` [2, ids].

    Its end is not before its begin; of equal spans the first counts. Raises NotFinite.
    """
    begins, ends = logits
    reachable = pad(ends, (0, longest - 1), value=-torch.inf).unfold(0, longest, 1)
    sums = begins[:, None] + reachable
    score, place = likeliest(sums.flatten())
    first, further = divmod(int(place), longest)
    return Span(score.item(), first, first + further)


def _windows(reader: ExtractiveReader, question: str, text: str, window: int, stride: int) -> list[Asked]:
    words, ids = reader.passage(question).ids, reader.passage(text).ids
    room = min(window - reader.specials, reader.room)
    words = words[: room // 2]
    size = room - len(words)
    stride = min(stride, size)
    starts = range(0, max(1, len(ids) - size + stride), stride)
    return [reader.asked(words, ids[start : start + size], start) for start in starts]


def _answer(
    reader: ExtractiveReader,
    text: str,
    windows: Sequence[Asked],
    logits: Sequence[torch.Tensor | None],
    may_be_none: bool,
) -> str | None:
    spans, nones = [], []
    for window, each in zip(windows, logits, strict=True):
        if each is None:
            return None
        nones.append(each[:, 0].sum().item())
        if window.length:
            span = best_span(each[:, window.start : window.start + window.length], LONGEST)
            spans.append(Span(span.score, window.offset + span.first, window.offset + span.last))
    best = max(spans, key=lambda span: span.score, default=None)
    if best is None or (may_be_none and min(nones) > best.score):
        return NONE
    return reader.passage(text).between(best.first, best.last)
