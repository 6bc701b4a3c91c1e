"""Short answers of T5 and mT5 models, and how probable they are."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import torch

from scoring.neural.batching import in_batches
from scoring.neural.t5_layers import Memory
from scoring.neural.t5_pass import T5Pass
from scoring.neural.tokens import TextTokenizer

Result = TypeVar("Result")


class FirstToken:
    """A folder's T5 or mT5 and its tokenizer, asked what stands first in its answer.

    All methods encode each distinct input once, in batches of bounded size, and give None for an input that
    ran out of memory.
    """

    def __init__(self, folder: Path, precision: str = "float32") -> None:
        self.tokens = TextTokenizer(folder)
        self._model = T5Pass(folder, precision)
        start = self._model.config.decoder_start_token_id
        self.start: int = self.tokens.padding if start is None else start
        """What the decoder reads before it has written anything."""

    def logits(self, inputs: Sequence[tuple[int, ...]], wanted: Sequence[int]) -> list[torch.Tensor | None]:
        """For each input of ids the logits [wanted] at the first step of the decoder; float32 on the CPU."""
        return self._each(inputs, lambda memory: self._model.logits(self._first(memory), wanted).cpu())

    def log_probabilities(
        self, inputs: Sequence[tuple[int, ...]], wanted: Sequence[int]
    ) -> list[torch.Tensor | None]:
        """As `logits`, but logarithms of the probabilities among the whole vocabulary."""

        def read(memory: Memory) -> torch.Tensor:
            logits = self._model.logits(self._first(memory))
            return (logits[:, list(wanted)] - logits.logsumexp(dim=-1, keepdim=True)).cpu()

        return self._each(inputs, read)

    def _first(self, memory: Memory) -> torch.Tensor:
        return self._model.decode(memory, self._starts(memory))[:, 0]

    def _starts(self, memory: Memory) -> torch.Tensor:
        return torch.full((len(memory.states), 1), self.start, device=memory.states.device)

    @torch.inference_mode()
    def _each(
        self, inputs: Sequence[tuple[int, ...]], read: Callable[[Memory], Iterable[Result]]
    ) -> list[Result | None]:
        distinct = list(dict.fromkeys(inputs))
        found = in_batches(
            [len(each) for each in distinct],
            lambda batch: read(self._model.encode([distinct[index] for index in batch])),
        )
        by_input = dict(zip(distinct, found, strict=True))
        return [by_input[each] for each in inputs]


class WholeAnswer(FirstToken):
    """The same, asked for answers of several tokens."""

    def answer_log_probabilities(
        self, inputs: Sequence[tuple[int, ...]], answers: Sequence[tuple[int, ...]]
    ) -> list[torch.Tensor | None]:
        """For each input the logarithm of the probability of each answer of ids: float32 [answers], CPU.

        Each id's probability is that after the ids before it; an answer should hold its closing id.
        """

        def read(memory: Memory) -> torch.Tensor:
            return torch.stack([self._answer(memory, answer) for answer in answers], dim=-1).cpu()

        return self._each(inputs, read)

    def written(self, inputs: Sequence[tuple[int, ...]], at_most: int) -> list[tuple[int, ...] | None]:
        """For each input the ids that the model writes when it takes the likeliest at each step.

        They end before the first closing id, or after `at_most` ids.
        """
        end = self.tokens.tokenizer.eos_token_id

        def read(memory: Memory) -> list[tuple[int, ...]]:
            ids = self._starts(memory)
            while ids.shape[1] <= at_most and not bool((ids == end).any(dim=1).all()):
                next_ids = self._model.logits(self._model.decode(memory, ids)[:, -1]).argmax(dim=-1)
                ids = torch.cat([ids, next_ids[:, None]], dim=1)
            return [_before(end, row) for row in ids[:, 1:].tolist()]

        return self._each(inputs, read)

    def _answer(self, memory: Memory, answer: tuple[int, ...]) -> torch.Tensor:
        """[inputs]"""
        written = torch.tensor([answer[:-1]] * len(memory.states), device=memory.states.device)
        ids = torch.cat([self._starts(memory), written.long()], dim=1)
        logits = self._model.logits(self._model.decode(memory, ids))
        wanted = torch.tensor(answer, device=logits.device).expand(len(logits), -1)
        chosen = logits.gather(-1, wanted[..., None])[..., 0]
        return (chosen - logits.logsumexp(dim=-1)).sum(dim=1)


def _before(end: int, ids: list[int]) -> tuple[int, ...]:
    return tuple(ids[: ids.index(end)] if end in ids else ids)
