"""Questions written by a sequence-to-sequence model; the same prompt gives the same question."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers

from scoring.neural.batching import distinct_in_batches, padded
from scoring.neural.device import tokens_per_batch
from scoring.neural.encoder import input_limit
from scoring.neural.likeliest import likeliest
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
        self._settings = {
            "num_beams": beams,
            "max_new_tokens": longest,
            "do_sample": False,
            "logits_processor": [_refuse_nan],
        }

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
        written = self._model.generate(input_ids=ids, attention_mask=mask, max_length=None, **self._settings)
        texts = self._tokens.tokenizer.batch_decode(written, skip_special_tokens=True)
        return [text.strip().removeprefix(MARK).strip() for text in texts]


def _refuse_nan(_: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """Return the scores of the next tokens. Raises NotFinite."""
    likeliest(scores)
    return scores
