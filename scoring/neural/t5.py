"""Answers of T5 and mT5 models that stand in the first token they would write."""

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
import transformers

from scoring.neural.batching import in_batches, padded
from scoring.neural.loading import load_model
from scoring.neural.tokens import TextTokenizer


class FirstToken:
    """A folder's T5 or mT5, its tokenizer, and what the model would write first."""

    def __init__(self, folder: Path, precision: str = "float32") -> None:
        self.tokens = TextTokenizer(folder)
        self._model = load_model(folder, transformers.AutoModelForSeq2SeqLM, precision)
        start = self._model.config.decoder_start_token_id
        self.start: int = self.tokens.padding if start is None else start

    def logits(self, inputs: Sequence[tuple[int, ...]], wanted: Sequence[int]) -> list[torch.Tensor | None]:
        """For each input of ids the logits [wanted] at the first step of the decoder, whose input is the
        start id alone; float32 on the CPU. None for an input that ran out of memory.
        """
        return self._each(inputs, lambda logits: logits[:, list(wanted)])

    def log_probabilities(
        self, inputs: Sequence[tuple[int, ...]], wanted: Sequence[int]
    ) -> list[torch.Tensor | None]:
        """As `logits`, but the logarithms of the probabilities among the whole vocabulary."""
        return self._each(inputs, lambda logits: logits.log_softmax(dim=-1)[:, list(wanted)])

    @torch.inference_mode()
    def _each(
        self, inputs: Sequence[tuple[int, ...]], read: Callable[[torch.Tensor], torch.Tensor]
    ) -> list[torch.Tensor | None]:
        distinct = list(dict.fromkeys(inputs))
        found = in_batches(
            [len(each) for each in distinct],
            lambda batch: read(self._first_logits([distinct[index] for index in batch])).cpu(),
        )
        by_input = dict(zip(distinct, found, strict=True))
        return [by_input[each] for each in inputs]

    def _first_logits(self, inputs: Sequence[tuple[int, ...]]) -> torch.Tensor:
        ids, mask = padded(inputs, self.tokens.padding)
        start = torch.full((len(inputs), 1), self.start, device=ids.device)
        logits: torch.Tensor = self._model(input_ids=ids, attention_mask=mask, decoder_input_ids=start).logits
        return logits[:, 0].float()
