"""Questions written by a sequence-to-sequence model, always the same ones for the same prompts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers

from scoring.neural.batching import in_batches, padded
from scoring.neural.device import tokens_per_batch
from scoring.neural.encoder import input_limit
from scoring.neural.loading import load_model
from scoring.neural.tokens import TextTokenizer

MARK = "question:"
"""What some models write before each question; it is taken off."""


@dataclass(frozen=True, slots=True)
class Written:
    """A question, and what share of its prompt the model has read."""

    question: str
    share_read: float


class QuestionWriter:
    """A folder's model with its tokenizer; searches with `beams` beams, never at random.

    Special tokens in a prompt are read as such: models are told with them where the answer stands.
    """

    def __init__(self, folder: Path, precision: str, beams: int, longest: int) -> None:
        self._tokens = TextTokenizer(folder, reads_specials=True)
        self._model: Any = load_model(folder, transformers.AutoModelForSeq2SeqLM, precision)
        self._limit = input_limit(self._model.config, self._tokens)
        self._tokens_per_batch = max(1, tokens_per_batch() // beams)
        self._settings = {"num_beams": beams, "max_new_tokens": longest, "do_sample": False}

    def questions(self, prompts: Sequence[str]) -> list[Written | None]:
        """One question for each prompt, which is cut at its end to the model's limit; None for what ran out
        of memory."""
        distinct = list(dict.fromkeys(prompts))
        whole = self._tokens.whole(distinct, self._limit)
        found = in_batches(
            [len(each) for each in whole],
            lambda batch: self._written([whole[index].ids for index in batch]),
            self._tokens_per_batch,
        )
        by_prompt = {
            prompt: None if question is None else Written(question, tokens.share_read)
            for prompt, question, tokens in zip(distinct, found, whole, strict=True)
        }
        return [by_prompt[prompt] for prompt in prompts]

    @torch.inference_mode()
    def _written(self, inputs: Sequence[tuple[int, ...]]) -> list[str]:
        ids, mask = padded(inputs, self._tokens.padding)
        written = self._model.generate(input_ids=ids, attention_mask=mask, max_length=None, **self._settings)
        texts = self._tokens.tokenizer.batch_decode(written, skip_special_tokens=True)
        return [text.strip().removeprefix(MARK).strip() for text in texts]
