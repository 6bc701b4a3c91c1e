"""SUPERT: words of a summary matched with words of the source's leading sentences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import torch
from torch.nn.functional import normalize

from scoring.neural.encoder import Encoder

SENTENCE_PIECES = 128
"""Read of one sentence, special ids not counted."""
APART_FROM = 15
"""Chosen sentences from which on each document is a pseudo reference of its own."""


@dataclass(frozen=True)
class Words:
    """Vectors [words, dimensions] of length 1; how many pieces were there and how many were read."""

    vectors: torch.Tensor
    pieces: int
    read: int

    @property
    def share_read(self) -> float:
        return self.read / self.pieces if self.pieces else 1.0


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
        """For each sentence its words, None where it ran out of memory."""
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
    """The words of several sentences, at least one, in their order."""
    return Words(
        torch.cat([each.vectors for each in sentences]),
        sum(each.pieces for each in sentences),
        sum(each.read for each in sentences),
    )


def pseudo_references(documents: Sequence[Sequence[str]], first: int) -> list[list[str]]:
    """What stands in for a reference: the `first` sentences of each document (0: all of them).

    Few sentences form one pseudo reference together; from 15 on, each document is one, and scores against
    them are averaged. With a single document both is the same.
    """
    leading = [list(each[:first] if first else each) for each in documents]
    if sum(map(len, leading)) >= APART_FROM:
        return [each for each in leading if each]
    return [list(chain.from_iterable(leading))]


def agreement(summary: Words, references: Sequence[Words]) -> dict[str, float]:
    """`precision`, `recall` and `f1`, each a mean over `references`; none of the texts without words.

    Precision is the mean over the summary's words of the greatest cosine with a word of the reference,
    recall the other way round. f1 is nan where a pair's precision and recall add up to 0.
    """
    measures = []
    for reference in references:
        cosines = reference.vectors @ summary.vectors.T
        recall, precision = cosines.amax(dim=1).mean().item(), cosines.amax(dim=0).mean().item()
        both = precision + recall
        measures.append((precision, recall, 2 * precision * recall / both if both else float("nan")))
    return {
        name: sum(values) / len(values)
        for name, values in zip(("precision", "recall", "f1"), zip(*measures, strict=True), strict=True)
    }
