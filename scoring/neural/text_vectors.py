"""One vector per text, as sentence encoders give it."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch.nn.functional import normalize

from scoring.neural.encoder import Encoder


class TextVectors:
    """Means of the last layer's token vectors, special tokens among them, scaled to length 1."""

    def __init__(self, folder: Path, precision: str = "float32") -> None:
        self._encoder = Encoder(folder, precision)

    def of(self, texts: Sequence[str], *, in_parts: bool = False) -> list[tuple[torch.Tensor | None, float]]:
        """Return the vectors [parts, dimensions] of each text, and the share of it that was read.

        Without `in_parts` a text that is too long is cut, else it is read in equal parts. None if out of
        memory.
        """
        read = self._encoder.tokens.read(texts, self._encoder.limit, in_parts=in_parts)
        states = iter(self._encoder.states([part.ids for parts in read for part in parts], [-1]))
        found: list[tuple[torch.Tensor | None, float]] = []
        for parts in read:
            whole = [vectors for _ in parts if (vectors := next(states)) is not None]
            found.append((_pooled(whole) if len(whole) == len(parts) else None, parts[0].share_read))
        return found


def _pooled(states: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return [parts, dimensions] from states of [1, tokens, dimensions] each."""
    return normalize(torch.stack([each[0].float().mean(dim=0) for each in states]), dim=-1)
