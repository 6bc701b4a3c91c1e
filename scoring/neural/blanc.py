"""A BERT that guesses hidden words, and copies of it trained on a summary."""

import copy
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import eq
from pathlib import Path
from typing import Any

import torch
import transformers
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import cross_entropy

from scoring.neural.batching import distinct_in_batches
from scoring.neural.blanc_masks import Cloze
from scoring.neural.device import DTYPES, device
from scoring.neural.encoder import input_limit
from scoring.neural.encoder_pass import EncoderPass
from scoring.neural.likeliest import likeliest
from scoring.neural.loading import load_model
from scoring.neural.tokens import TextTokenizer

ROWS = 1024
"""Hidden words whose logits are in memory at a time."""
FIRST_WORD, LAST_WORD = 1000, 29_999
"""Ids that may replace a hidden word, by the authors' choice for BERT's own vocabulary."""
NEXT_SENTENCE = ("cls.seq_relationship.",)
"""Beginning of the names of a head that BERT is published with, and that guesses nothing."""
NOT_DECAYED = ("bias", "LayerNorm.weight")
WEIGHT_DECAY = 0.01

Guessed = tuple[bool, ...] | None
"""One value for each hidden word of an input, True if it was guessed; None if out of memory."""


class Guesser:
    """A masked language model that guesses hidden words."""

    def __init__(self, model: transformers.PreTrainedModel) -> None:
        self.model: Any = model
        encoder: Any = model.get_submodule("bert")
        self._pass = EncoderPass(encoder)

    @torch.inference_mode()
    def right(self, clozes: Sequence[Cloze]) -> list[Guessed]:
        """Return for each cloze which hidden words were guessed.

        The guess is the likeliest id. Equal inputs are computed once. Raises NotFinite.
        """
        inputs = [(each.ids, each.hidden) for each in clozes]
        guesses = distinct_in_batches(inputs, self._guesses, length=lambda each: len(each[0]))
        return [
            None if ids is None else tuple(map(eq, ids, each.answers))
            for each, ids in zip(clozes, guesses, strict=True)
        ]

    def _guesses(self, inputs: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]) -> list[list[int]]:
        """Return the likeliest ids at the hidden positions of each (ids, hidden)."""
        [states] = self._pass.states([ids for ids, _ in inputs], [-1])
        starts = accumulate((len(ids) for ids, _ in inputs), initial=0)
        places = [
            start + position
            for start, (_, hidden) in zip(starts, inputs, strict=False)
            for position in hidden
        ]
        found = torch.cat([likeliest(self.model.cls(some))[1] for some in states[places].split(ROWS)])
        return [each.tolist() for each in found.split([len(hidden) for _, hidden in inputs])]


@dataclass(frozen=True, slots=True)
class Teaching:
    """Settings for training a copy: each lesson once an epoch, one at a time and in order.

    A hidden word is shown as a random id with probability `replaced`, as itself with
    `kept`, else as the mask. `seed` starts these draws and those of dropout.
    """

    epochs: int
    learning_rate: float
    seed: int
    replaced: float
    kept: float


class MaskFiller(Guesser):
    """A folder's BERT with its tokenizer."""

    def __init__(self, folder: Path, precision: str = "float32") -> None:
        self.tokens = TextTokenizer(folder)
        self.precision = precision
        super().__init__(load_model(folder, transformers.BertForMaskedLM, precision, unused=NEXT_SENTENCE))
        self.mask: int = self.tokens.tokenizer.mask_token_id
        self.limit = input_limit(self.model.config, self.tokens)

    def taught(self, lessons: Sequence[Cloze], teaching: Teaching) -> Guesser:
        """Return a guesser whose model is a copy trained on `lessons`; this one stays unchanged.

        Trained in float32 with AdamW at a rate that falls linearly to 0. The same lessons and seed give the
        same weights, whatever was trained before. Without lessons nothing changes.
        """
        if not lessons:
            return self
        shown = self._shown(lessons, teaching)
        cuda = [device()] if device().type == "cuda" else []
        with (
            torch.inference_mode(False),
            torch.enable_grad(),
            torch.random.fork_rng(cuda),
            sdpa_kernel(SDPBackend.MATH),  # the others' gradients may differ from run to run
        ):
            torch.manual_seed(teaching.seed)
            model = copy.deepcopy(self.model).float().train()
            steps = len(lessons) * teaching.epochs
            optimizer = torch.optim.AdamW(_parameter_groups(model), lr=teaching.learning_rate, fused=True)
            schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / steps))
            for _ in range(teaching.epochs):
                for ids, lesson in zip(shown, lessons, strict=True):
                    optimizer.zero_grad()
                    _loss(model, ids, lesson).backward()
                    optimizer.step()
                    schedule.step()
        return Guesser(model.eval().to(DTYPES[self.precision]))

    def _shown(self, lessons: Sequence[Cloze], teaching: Teaching) -> list[list[int]]:
        """Return the ids of the lessons as the model sees them."""
        draws = random.Random(teaching.seed)
        size = self.model.config.vocab_size
        first = FIRST_WORD if size > FIRST_WORD else len(self.tokens.tokenizer.all_special_ids)
        shown = []
        for lesson in lessons:
            ids = list(lesson.ids)
            for position, answer in zip(lesson.hidden, lesson.answers, strict=True):
                drawn = draws.random()
                if drawn < teaching.replaced:
                    ids[position] = draws.randint(first, min(LAST_WORD, size - 1))
                elif drawn < teaching.replaced + teaching.kept:
                    ids[position] = answer
            shown.append(ids)
        return shown


def _loss(model: Any, ids: Sequence[int], lesson: Cloze) -> torch.Tensor:
    states = model.bert(input_ids=torch.tensor([ids], device=model.device)).last_hidden_state
    logits = model.cls(states[0, list(lesson.hidden)])
    return cross_entropy(logits, torch.tensor(lesson.answers, device=model.device))


def _parameter_groups(model: torch.nn.Module) -> list[dict[str, object]]:
    decayed: list[torch.nn.Parameter] = []
    spared: list[torch.nn.Parameter] = []
    for name, parameter in model.named_parameters():
        (spared if any(part in name for part in NOT_DECAYED) else decayed).append(parameter)
    return [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": spared, "weight_decay": 0.0}]
