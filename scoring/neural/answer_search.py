"""Answers from texts of any length: windows, and the likeliest span in any of them, as for SQuAD."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.nn.functional import pad

from scoring.neural.extractive_qa import Asked, ExtractiveReader

NONE = ""
"""The answer that is none."""


@dataclass(frozen=True, slots=True)
class SpanRule:
    """`window` is the longest input in ids, `stride` how far apart windows begin, `longest` is of an answer.

    A question takes at most half of a window; what is more is cut. With `may_be_none` there is no answer
    where begin and end at the first special token are likelier, in each window, than any span in any of
    them, as models trained on SQuAD 2 say it.
    """

    window: int
    stride: int
    longest: int
    may_be_none: bool


@dataclass(frozen=True, slots=True)
class Span:
    """Ids of the text from `first` to `last`, inclusive, with the sum of their logits."""

    score: float
    first: int
    last: int


def find_answers(
    reader: ExtractiveReader, asked: Sequence[tuple[str, str]], rule: SpanRule
) -> list[str | None]:
    """The answer to each question in its text, as it stands there, or NONE; None for out of memory."""
    windows = [_windows(reader, question, text, rule) for question, text in asked]
    logits = iter(reader.logits([window for each in windows for window in each]))
    return [
        _answer(reader, text, each, [next(logits) for _ in each], rule)
        for (_, text), each in zip(asked, windows, strict=True)
    ]


def best_span(logits: torch.Tensor, longest: int) -> Span:
    """The span of at most `longest` ids with the highest sum of `logits` [2, ids], its end not before its
    begin; of equal ones the first.
    """
    begins, ends = logits
    reachable = pad(ends, (0, longest - 1), value=-torch.inf).unfold(0, longest, 1)
    sums = begins[:, None] + reachable
    first, further = divmod(int(sums.argmax()), longest)
    return Span(sums[first, further].item(), first, first + further)


def _windows(reader: ExtractiveReader, question: str, text: str, rule: SpanRule) -> list[Asked]:
    words, ids = reader.passage(question).ids, reader.passage(text).ids
    room = min(rule.window - reader.specials, reader.room)
    words = words[: room // 2]
    size = room - len(words)
    stride = min(rule.stride, size)
    starts = range(0, max(1, len(ids) - size + stride), stride)
    return [reader.asked(words, ids[start : start + size], start) for start in starts]


def _answer(
    reader: ExtractiveReader,
    text: str,
    windows: Sequence[Asked],
    logits: Sequence[torch.Tensor | None],
    rule: SpanRule,
) -> str | None:
    spans, nones = [], []
    for window, each in zip(windows, logits, strict=True):
        if each is None:
            return None
        nones.append(each[:, 0].sum().item())
        if window.length:
            span = best_span(each[:, window.start : window.start + window.length], rule.longest)
            spans.append(Span(span.score, window.offset + span.first, window.offset + span.last))
    best = max(spans, key=lambda span: span.score, default=None)
    if best is None or (rule.may_be_none and min(nones) > best.score):
        return NONE
    return reader.passage(text).between(best.first, best.last)
