"""Short answers of T5 and mT5 models, and how probable they are."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import torch

from scoring.neural.batching import distinct_in_batches
from scoring.neural.likeliest import likeliest
from scoring.neural.t5_layers import Memory
from scoring.neural.t5_pass import T5Pass
from scoring.neural.tokens import TextTokenizer

Result = TypeVar("Result")


class Answers:
    """Answers of a folder's T5 or mT5.

    All methods encode each distinct input once, in batches of bounded size, and return None for an input that
    ran out of memory.
    """

    def __init__(self, folder: Path, precision: str = "float32") -> None:
        self.tokens = TextTokenizer(folder)
        self._model = T5Pass(folder, precision)
        start = self._model.config.decoder_start_token_id
        self.start: int = self.tokens.padding if start is None else start
        """The decoder's first input."""

    def logits(self, inputs: Sequence[tuple[int, ...]], wanted: Sequence[int]) -> list[torch.Tensor | None]:
        """Return logits [wanted] per input at the decoder's first step, float32 on the CPU."""
        return self._each(inputs, lambda memory: self._model.logits(self._first(memory), wanted).cpu())

    def log_probabilities(
        self, inputs: Sequence[tuple[int, ...]], wanted: Sequence[int]
    ) -> list[torch.Tensor | None]:
        """Return what `logits` does, as log-probabilities among the whole vocabulary."""

        def read(memory: Memory) -> torch.Tensor:
            logits = self._model.logits(self._first(memory))
            return (logits[:, list(wanted)] - logits.logsumexp(dim=-1, keepdim=True)).cpu()

        return self._each(inputs, read)

    def answer_log_probabilities(
        self, inputs: Sequence[tuple[int, ...]], answers: Sequence[tuple[int, ...]]
    ) -> list[torch.Tensor | None]:
        """Return the log-probability of each answer of ids per input: float32 [answers], CPU.

        Each id's probability is that after the ids before it; an answer should include its closing id.
        """

        def read(memory: Memory) -> torch.Tensor:
            return torch.stack([self._answer(memory, answer) for answer in answers], dim=-1).cpu()

        return self._each(inputs, read)

    def written(self, inputs: Sequence[tuple[int, ...]], at_most: int) -> list[tuple[int, ...] | None]:
        """Return the ids that the model writes per input by greedy decoding.

        They end before the first closing id, or after `at_most` ids. Raises NotFinite.
        """
        end = self.tokens.tokenizer.eos_token_id

        def read(memory: Memory) -> list[tuple[int, ...]]:
            ids = self._starts(memory)
            while ids.shape[1] <= at_most and not bool((ids == end).any(dim=1).all()):
                _, next_ids = likeliest(self._model.logits(self._model.decode(memory, ids)[:, -1]))
                ids = torch.cat([ids, next_ids[:, None]], dim=1)
            return [_before(end, row) for row in ids[:, 1:].tolist()]

        return self._each(inputs, read)

    def _first(self, memory: Memory) -> torch.Tensor:
        return self._model.decode(memory, self._starts(memory))[:, 0]

    def _starts(self, memory: Memory) -> torch.Tensor:
        return torch.full((len(memory.states), 1), self.start, device=memory.states.device)

    @torch.inference_mode()
    def _each(
        self, inputs: Sequence[tuple[int, ...]], read: Callable[[Memory], Iterable[Result]]
    ) -> list[Result | None]:
        return distinct_in_batches(inputs, lambda batch: read(self._model.encode(batch)))

    def _answer(self, memory: Memory, answer: tuple[int, ...]) -> torch.Tensor:
        """Return the log-probability of one answer [inputs]."""
        written = torch.tensor([answer[:-1]] * len(memory.states), device=memory.states.device)
        ids = torch.cat([self._starts(memory), written.long()], dim=1)
        logits = self._model.logits(self._model.decode(memory, ids))
        wanted = torch.tensor(answer, device=logits.device).expand(len(logits), -1)
        chosen = logits.gather(-1, wanted[..., None])[..., 0]
        return (chosen - logits.logsumexp(dim=-1)).sum(dim=1)


def _before(end: int, ids: list[int]) -> tuple[int, ...]:
    return tuple(ids[: ids.index(end)] if end in ids else ids)
