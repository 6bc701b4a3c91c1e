"""Questions written by a sequence-to-sequence model; the same prompt gives the same question."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers

from scoring.contract.scores import NotFinite
from scoring.neural.batching import distinct_in_batches, padded
from scoring.neural.device import tokens_per_batch
from scoring.neural.encoder import input_limit
from scoring.neural.finiteness import ModelWatch
from scoring.neural.loading import load_model
from scoring.neural.tokens import TextTokenizer

MARK = "question:"
"""Text that some models write before each question; it is removed."""


@dataclass(frozen=True, slots=True)
class Written:
    """A question, and the share of its prompt that the model read."""

    question: str
    share_read: float


class QuestionWriter:
    """A folder's model with its tokenizer; searches with `beams` beams, without sampling.

    Special tokens in a prompt are read as such, since they mark the answer.
    """

    def __init__(self, folder: Path, precision: str, beams: int, longest: int) -> None:
        self._tokens = TextTokenizer(folder, reads_specials=True)
        self._model: Any = load_model(folder, transformers.AutoModelForSeq2SeqLM, precision)
        self._limit = input_limit(self._model.config, self._tokens)
        self._tokens_per_batch = max(1, tokens_per_batch() // beams)
        self._beams, self._longest = beams, longest
        self._watched = ModelWatch(self._model)

    def questions(self, prompts: Sequence[str]) -> list[Written | None]:
        """Return one question per prompt, cut at its end to the model's limit; None if out of memory.

        Raises NotFinite.
        """
        whole = self._tokens.whole(prompts, self._limit)
        found = distinct_in_batches(
            [each.ids for each in whole], self._written, tokens=self._tokens_per_batch
        )
        return [
            None if question is None else Written(question, tokens.share_read)
            for question, tokens in zip(found, whole, strict=True)
        ]

    @torch.inference_mode()
    def _written(self, inputs: Sequence[tuple[int, ...]]) -> list[str]:
        ids, mask = padded(inputs, self._tokens.padding)
        write = partial(
            self._model.generate,
            input_ids=ids,
            attention_mask=mask,
            max_length=None,
            max_new_tokens=self._longest,
            num_beams=self._beams,
            do_sample=False,
        )
        written, marks = self._watched.run(mask, write, self._beams)
        if bool(marks.isnan().any()):
            raise NotFinite
        texts = self._tokens.tokenizer.batch_decode(written, skip_special_tokens=True)
        return [text.strip().removeprefix(MARK).strip() for text in texts]
