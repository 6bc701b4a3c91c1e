"""One vector for a text, as sentence encoders give it."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch.nn.functional import normalize

from scoring.neural.encoder import Encoder
from scoring.neural.tokens import chunks


class TextVectors:
    """Means of the last layer's token vectors, special tokens among them, scaled to length 1."""

    def __init__(self, folder: Path, precision: str = "float32") -> None:
        self._encoder = Encoder(folder, precision)

    def of(self, texts: Sequence[str]) -> tuple[list[torch.Tensor | None], list[float]]:
        """For each text its vector [1, dimensions], None out of memory; and the share of it that was read."""
        whole = self._encoder.tokens.whole(texts, self._encoder.limit)
        states = self._encoder.states([each.ids for each in whole], [-1])
        return [None if each is None else _pooled([each]) for each in states], [
            each.share_read for each in whole
        ]

    def of_parts(self, texts: Sequence[str]) -> list[torch.Tensor | None]:
        """For each text the vectors [parts, dimensions] of equal parts that each fit the encoder."""
        tokens = self._encoder.tokens
        room = self._encoder.limit - len(tokens.opening) - len(tokens.closing)
        parts = [
            [(*tokens.opening, *part, *tokens.closing) for part in chunks(pieces, room)]
            for pieces in tokens.pieces(texts)
        ]
        states = iter(self._encoder.states([part for each in parts for part in each], [-1]))
        found: list[torch.Tensor | None] = []
        for each in parts:
            vectors = [next(states) for _ in each]
            whole = [vector for vector in vectors if vector is not None]
            found.append(_pooled(whole) if len(whole) == len(vectors) else None)
        return found


def _pooled(states: Sequence[torch.Tensor]) -> torch.Tensor:
    """[parts, dimensions] from states of [1, tokens, dimensions] each."""
    return normalize(torch.stack([each[0].float().mean(dim=0) for each in states]), dim=-1)
