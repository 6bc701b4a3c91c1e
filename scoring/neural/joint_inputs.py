"""Texts as the one sequence of ids that a joint encoder reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scoring.neural.segments import Joined, Marks, joined
from scoring.neural.tokens import TextTokenizer

Group = tuple[str, Sequence[tuple[str, ...]]]
"""A scenario, and tuples of texts that are each read as one sequence. Layers are normalised over a group."""


@dataclass(frozen=True, slots=True)
class JointOutput:
    """The estimator's outputs for one sequence, and the share of each text that it read."""

    outputs: tuple[float, ...]
    shares: tuple[float, ...]


class JointReader(Protocol):
    """A model that judges texts read as one sequence."""

    def read(self, groups: Sequence[Group]) -> list[list[JointOutput | None]]:
        """Return the output for each tuple of texts; None if it ran out of memory."""


class JointInputs:
    """A folder's tokenizer, and the most ids of one text and of all texts together."""

    def __init__(self, folder: Path, text_limit: int, joint_limit: int) -> None:
        self.tokens = TextTokenizer(folder)
        self._marks = Marks(self.tokens.opening[0], self.tokens.between_texts, self.tokens.closing[-1])
        self._limits = text_limit, joint_limit

    def of(self, texts: Sequence[tuple[str, ...]]) -> tuple[list[Joined], list[tuple[float, ...]]]:
        """Return the encoder's input for each tuple of texts, and the share of each text that it has."""
        flat = list(dict.fromkeys(text for each in texts for text in each))
        pieces = dict(zip(flat, self.tokens.pieces(flat), strict=True))
        found = [joined([pieces[text] for text in each], self._marks, *self._limits) for each in texts]
        return [sequence for sequence, _ in found], [shares for _, shares in found]
