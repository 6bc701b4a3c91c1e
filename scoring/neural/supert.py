"""SUPERT: words of a summary matched with words of the article's first sentences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.nn.functional import normalize

from scoring.contract.scores import share_of
from scoring.neural.encoder import Encoder

SENTENCE_PIECES = 128
"""The most pieces read of one sentence, without special ids."""


@dataclass(frozen=True)
class Words:
    """Unit vectors [words, dimensions], the number of pieces, and how many were read."""

    vectors: torch.Tensor
    pieces: int
    read: int

    @property
    def share_read(self) -> float:
        return share_of(self.read, self.pieces)


class SentenceWords:
    """Vectors of a sentence's words in the encoder's last layer, each sentence encoded alone.

    Special tokens around it and pieces among `stop_words` are left out; punctuation and parts of words stay.
    """

    def __init__(self, folder: Path, precision: str, stop_words: frozenset[str]) -> None:
        self._encoder = Encoder(folder, precision)
        tokens = self._encoder.tokens
        self._limit = min(SENTENCE_PIECES + len(tokens.opening) + len(tokens.closing), self._encoder.limit)
        around = {*tokens.opening, *tokens.closing}
        self._kept = torch.tensor(
            [
                piece not in stop_words and number not in around
                for number, piece in enumerate(tokens.vocabulary)
            ]
        )

    def of(self, sentences: Iterable[str]) -> dict[str, Words | None]:
        """Return the words of each sentence; None if it ran out of memory."""
        distinct = list(dict.fromkeys(sentences))
        tokens = self._encoder.tokens
        uncut = tokens.pieces(distinct)
        read = [tokens.between(tokens.opening, each, tokens.closing, self._limit).ids for each in uncut]
        around = len(tokens.opening) + len(tokens.closing)
        found: dict[str, Words | None] = {}
        states = self._encoder.states(read, [-1])
        for sentence, pieces, ids, vectors in zip(distinct, uncut, read, states, strict=True):
            if vectors is None:
                found[sentence] = None
                continue
            kept = self._kept[torch.tensor(ids)].to(vectors.device)
            unit = normalize(vectors[0][kept].float(), dim=-1)
            found[sentence] = Words(unit, len(pieces), len(ids) - around)
        return found


def joined(sentences: Sequence[Words]) -> Words:
    """Join the words of sentences, at least one, in order."""
    return Words(
        torch.cat([each.vectors for each in sentences]),
        sum(each.pieces for each in sentences),
        sum(each.read for each in sentences),
    )


def agreement(summary: Words, reference: Words) -> dict[str, float]:
    """Return `precision`, `recall` and `f1`; both texts have words.

    Precision is the mean over the summary's words of the greatest cosine with a word of the reference, recall
    the reverse. f1 is nan if precision and recall add up to 0.
    """
    cosines = reference.vectors @ summary.vectors.T
    recall, precision = cosines.amax(dim=1).mean().item(), cosines.amax(dim=0).mean().item()
    both = precision + recall
    f1 = 2 * precision * recall / both if both else float("nan")
    return {"precision": precision, "recall": recall, "f1": f1}
