"""SummaQA's reader: the likeliest begin and the likeliest end of an answer, independently."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from scoring.contract.scores import share_of
from scoring.neural.extractive_qa import Asked, ExtractiveReader
from scoring.neural.likeliest import likeliest


@dataclass(frozen=True, slots=True)
class ReaderAnswer:
    """A model's answer to a question from a summary.

    `from_summary` is the answer as in the summary, `from_pieces` its tokens joined by blanks, as SummaQA's
    authors do. `probability` is that of the begin times that of the end.
    """

    from_summary: str
    from_pieces: str
    probability: float
    question_share: float
    summary_share: float


def replies(reader: ExtractiveReader, asked: Sequence[tuple[str, str]]) -> list[ReaderAnswer | None]:
    """Return `reader`'s answer to each question from its summary; None if out of memory.

    Probabilities are over all positions of the input, including the special token at its end. If both
    together are too long, the summary's end is cut, and also the end of a question that exceeds half of the
    input.
    """
    inputs, shares = [], []
    for question, summary in asked:
        words, passage = reader.passage(question).ids, reader.passage(summary)
        kept = words[: max(reader.room - len(passage.ids), reader.room // 2)]
        text = passage.ids[: reader.room - len(kept)]
        inputs.append(reader.asked(kept, text))
        shares.append((share_of(len(kept), len(words)), share_of(len(text), len(passage.ids))))
    return [
        None if logits is None else read_reply(reader, summary, each, logits, share)
        for (_, summary), each, logits, share in zip(
            asked, inputs, reader.logits(inputs), shares, strict=True
        )
    ]


def read_reply(
    reader: ExtractiveReader,
    summary: str,
    asked: Asked,
    logits: torch.Tensor,
    shares: tuple[float, float] = (1.0, 1.0),
) -> ReaderAnswer:
    """Return the answer for `logits` [2, ids]; empty if the end comes before the begin. Raises NotFinite."""
    probabilities = logits.softmax(dim=-1)[:, asked.start :]
    (begin, end), (first, last) = (each.tolist() for each in likeliest(probabilities))
    answer = ""
    if first < asked.length:
        answer = reader.passage(summary).between(first, min(last, asked.length - 1))
    ids = asked.ids[asked.start :][first : last + 1]
    joined = " ".join(reader.tokens.tokenizer.convert_ids_to_tokens(list(ids)))
    return ReaderAnswer(answer, joined, begin * end, *shares)
