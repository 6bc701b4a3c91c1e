"""A BERT that fills masks: which hidden words it guesses right, and a copy of it taught from a summary."""

import copy
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
import transformers
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import cross_entropy

from scoring.neural.batching import in_batches
from scoring.neural.blanc_masks import Cloze
from scoring.neural.device import DTYPES, device
from scoring.neural.encoder import input_limit
from scoring.neural.encoder_pass import EncoderPass
from scoring.neural.loading import load_model
from scoring.neural.tokens import TextTokenizer
from scoring.weights import MissingWeights

ROWS = 1024
"""Hidden words whose logits over the vocabulary are in memory at a time."""
NOT_DECAYED = ("bias", "LayerNorm.weight")
WEIGHT_DECAY = 0.01


class Guesser:
    """A masked language model that guesses hidden words."""

    def __init__(self, model: transformers.PreTrainedModel) -> None:
        self.model: Any = model
        encoder: Any = model.get_submodule("bert")
        self._pass = EncoderPass(encoder)

    @torch.inference_mode()
    def right(self, clozes: Sequence[Cloze]) -> list[tuple[bool, ...] | None]:
        """For each cloze whether each hidden word was guessed: the likeliest id is the answer. None for what
        ran out of memory. Equal inputs go through the model once."""
        distinct = list({(each.ids, each.hidden): each for each in clozes}.values())
        found = in_batches(
            [len(each.ids) for each in distinct],
            lambda batch: self._guesses([distinct[index] for index in batch]),
        )
        guesses = {(each.ids, each.hidden): ids for each, ids in zip(distinct, found, strict=True)}
        return [
            None
            if (ids := guesses[each.ids, each.hidden]) is None
            else tuple(guess == answer for guess, answer in zip(ids, each.answers, strict=True))
            for each in clozes
        ]

    def _guesses(self, clozes: Sequence[Cloze]) -> list[list[int]]:
        [states] = self._pass.states([each.ids for each in clozes], [-1])
        starts = accumulate((len(each.ids) for each in clozes), initial=0)
        places = [
            start + position for start, each in zip(starts, clozes, strict=False) for position in each.hidden
        ]
        likeliest = torch.cat([self.model.cls(some).argmax(dim=-1) for some in states[places].split(ROWS)])
        return [each.tolist() for each in likeliest.split([len(each.hidden) for each in clozes])]


@dataclass(frozen=True, slots=True)
class Teaching:
    """How a copy is taught: each lesson once an epoch, one at a time and in order.

    A hidden word is shown as a random id from `replacements` with the first probability, as itself with the
    second, else as the mask. `seed` starts these draws and those of dropout.
    """

    epochs: int
    learning_rate: float
    seed: int
    replaced: float
    kept: float
    replacements: tuple[int, int]


class MaskFiller(Guesser):
    """A folder's BERT with its tokenizer."""

    def __init__(self, folder: Path, precision: str = "float32") -> None:
        self.tokens = TextTokenizer(folder)
        self.precision = precision
        super().__init__(load_model(folder, transformers.BertForMaskedLM, precision))
        self.mask: int = self.tokens.tokenizer.mask_token_id
        self.limit = input_limit(self.model.config, self.tokens)

    def id_of(self, token: str) -> int:
        """The id of a token as it stands in the vocabulary. Raises MissingWeights where it does not."""
        vocabulary = self.tokens.tokenizer.get_vocab()
        if token not in vocabulary:
            raise MissingWeights(f"The model's vocabulary has no token {token!r}.")
        return vocabulary[token]

    def taught(self, lessons: Sequence[Cloze], teaching: Teaching) -> Guesser:
        """A guesser whose model is a copy that has learnt from `lessons`; this one stays as it is.

        Trained in float32 with AdamW, whose rate falls to 0 in a straight line; the same lessons and seed
        give the same weights, whatever was taught before. Without lessons nothing changes.
        """
        if not lessons:
            return self
        shown = _shown(lessons, teaching)
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


def _shown(lessons: Sequence[Cloze], teaching: Teaching) -> list[list[int]]:
    draws = random.Random(teaching.seed)
    shown = []
    for lesson in lessons:
        ids = list(lesson.ids)
        for position, answer in zip(lesson.hidden, lesson.answers, strict=True):
            drawn = draws.random()
            if drawn < teaching.replaced:
                ids[position] = draws.randint(*teaching.replacements)
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
    return [
        {"params": decayed, "weight_decay": WEIGHT_DECAY},
        {"params": spared, "weight_decay": 0.0},
    ]
