"""Models that answer a question with a part of a text."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
import transformers

from scoring.neural.batching import distinct_in_batches, padded, second_text
from scoring.neural.encoder import input_limit
from scoring.neural.encoder_pass import EncoderPass
from scoring.neural.finiteness import ModelWatch
from scoring.neural.loading import load_model
from scoring.neural.tokens import REMEMBERED_TEXTS, TextTokenizer


@dataclass(frozen=True, slots=True)
class Passage:
    """A text's ids, and the characters [first, last) of each in the text."""

    text: str
    ids: tuple[int, ...]
    places: tuple[tuple[int, int], ...]

    def between(self, first: int, last: int) -> str:
        """Return the characters of the ids from `first` to `last`, inclusive; none if `last` is before."""
        return self.text[self.places[first][0] : self.places[last][1]] if first <= last else ""


@dataclass(frozen=True, slots=True)
class Asked:
    """One input: a question and a part of a text between special ids; the text begins at `start`."""

    ids: tuple[int, ...]
    start: int
    length: int
    """Length of the part of the text, in ids."""
    offset: int
    """Ids of the text before this part."""


class ExtractiveReader:
    """A folder's question answering model and its tokenizer.

    With `two_segments`, token types mark what is question and what is text, if the model has such types.
    """

    def __init__(self, folder: Path, precision: str = "float32", *, two_segments: bool = True) -> None:
        self.tokens = TextTokenizer(folder)
        self._model: Any = load_model(folder, transformers.AutoModelForQuestionAnswering, precision)
        self._pass = EncoderPass.of(self._model)
        self._watched = ModelWatch(self._model)
        self._limit = input_limit(self._model.config, self.tokens)
        self._typed = two_segments and getattr(self._model.config, "type_vocab_size", 1) > 1
        self.passage = lru_cache(REMEMBERED_TEXTS)(self._passage)

    @property
    def specials(self) -> int:
        """Special ids in an input."""
        return len(self.tokens.opening) + len(self.tokens.between_texts) + len(self.tokens.closing)

    @property
    def room(self) -> int:
        """Ids that question and text may have together."""
        return self._limit - self.specials

    def _passage(self, text: str) -> Passage:
        encoded = self.tokens.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        places = tuple((start, end) for start, end in encoded["offset_mapping"])
        return Passage(text, self.tokens.as_text(encoded["input_ids"]), places)

    def asked(self, question: Sequence[int], text: Sequence[int], offset: int = 0) -> Asked:
        """Return an input of a question and a part of a text, which must fit together."""
        before = (*self.tokens.opening, *question, *self.tokens.between_texts)
        return Asked((*before, *text, *self.tokens.closing), len(before), len(text), offset)

    @torch.inference_mode()
    def logits(self, inputs: Sequence[Asked]) -> list[torch.Tensor | None]:
        """Return logits [2, ids] of the answer's begin and end per input, float32 on the CPU.

        None for what ran out of memory. Equal inputs are computed once.
        """
        return distinct_in_batches(inputs, self._logits, length=lambda each: len(each.ids))

    def _logits(self, inputs: Sequence[Asked]) -> list[torch.Tensor]:
        sequences = [each.ids for each in inputs]
        types = [second_text(len(each.ids), each.start) for each in inputs] if self._typed else None
        if self._pass is not None:
            [states] = self._pass.states(sequences, [-1], types)
            return list(
                self._model.qa_outputs(states).float().T.cpu().split(list(map(len, sequences)), dim=1)
            )
        ids, mask = padded(sequences, self.tokens.padding)
        given = {} if types is None else {"token_type_ids": padded(types, 0)[0]}
        output, marks = self._watched.run(
            mask, lambda: self._model(input_ids=ids, attention_mask=mask, **given)
        )
        both = torch.stack([output.start_logits, output.end_logits], dim=1).float() + marks[:, None, None]
        both = both.cpu()
        return [logits[:, : len(each.ids)].clone() for logits, each in zip(both, inputs, strict=True)]
