"""SummaQA's reader: the likeliest begin and the likeliest end of an answer, each for itself."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from scoring.neural.extractive_qa import Asked, ExtractiveReader


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answers to a question from a summary.

    `from_summary` is the answer as it stands in the summary; `from_pieces` its tokens joined by blanks, as
    SummaQA's authors join them. `probability` is that of the begin times that of the end.
    """

    from_summary: str
    from_pieces: str
    probability: float
    question_share: float
    summary_share: float


def replies(reader: ExtractiveReader, asked: Sequence[tuple[str, str]]) -> list[Reply | None]:
    """What `reader` answers to each question from its summary; None for what ran out of memory.

    Probabilities are shares among all positions of the input; the special token at its end may be chosen too.
    Where both together are too long, the summary's end is cut, and of a question that takes more than half
    of the input the end too.
    """
    inputs, shares = [], []
    for question, summary in asked:
        words, passage = reader.passage(question).ids, reader.passage(summary)
        kept = words[: max(reader.room - len(passage.ids), reader.room // 2)]
        text = passage.ids[: reader.room - len(kept)]
        inputs.append(reader.asked(kept, text))
        shares.append((_share(kept, words), _share(text, passage.ids)))
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
) -> Reply:
    """The reply that `logits` [2, ids of the input] give; empty where the end comes before the begin."""
    probabilities = logits.softmax(dim=-1)[:, asked.start :]
    (begin, end), (first, last) = (each.tolist() for each in probabilities.max(dim=-1))
    answer = ""
    if first < asked.length:
        answer = reader.passage(summary).between(first, min(last, asked.length - 1))
    ids = asked.ids[asked.start :][first : last + 1]
    joined = " ".join(reader.tokens.tokenizer.convert_ids_to_tokens(list(ids)))
    return Reply(answer, joined, begin * end, *shares)


def _share(kept: Sequence[int], whole: Sequence[int]) -> float:
    return len(kept) / len(whole) if whole else 1.0
