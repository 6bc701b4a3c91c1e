"""Changes to how UMSE is trained that benchmarks/training/umse.py tries; none is in the product."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from random import Random
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from scoring.trainers import umse_pairs
from scoring.trainers.umse_learner import _WithLoss
from scoring.trainers.umse_pairs import SIMILAR, Source

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Logits of each example (mismatch, match), numbers of the scenarios, matches -> loss."""


def with_loss(loss: Loss) -> AbstractContextManager[Any]:
    def forward(
        self: _WithLoss, ids: Tensor, mask: Tensor, numbers: Tensor, scenarios: Tensor, matches: Tensor
    ) -> dict[str, Tensor]:
        logits = self.network(ids, mask, numbers, scenarios)
        return {"loss": loss(logits.float(), scenarios, matches), "outputs": logits}

    return patch.object(_WithLoss, "forward", forward)


def at_temperature(temperature: float) -> AbstractContextManager[Any]:
    return with_loss(lambda logits, _, matches: cross_entropy(logits / temperature, matches))


def with_contrast(temperature: float) -> AbstractContextManager[Any]:
    """Add, for each match, the cross-entropy of choosing it among all mismatches of its scenario."""

    def loss(logits: Tensor, scenarios: Tensor, matches: Tensor) -> Tensor:
        values = (logits[:, 1] - logits[:, 0]) / temperature
        beside = (scenarios[:, None] == scenarios) & (matches == 0)
        others = values.expand(len(values), -1).masked_fill(~beside, -torch.inf)
        choices = torch.cat([values[:, None], others], dim=1)[matches == 1]
        first = torch.zeros(len(choices), dtype=torch.long, device=choices.device)
        plain = cross_entropy(logits, matches)
        return plain + cross_entropy(choices, first) if len(choices) else plain

    return with_loss(loss)


def random_articles() -> AbstractContextManager[Any]:
    """Take mismatches from any articles instead of similar ones."""

    def with_any(sources: Sequence[Source]) -> Iterator[tuple[Source, list[Source]]]:
        for source in sources:
            drawn = Random(source.digest).sample(sources, min(len(sources), SIMILAR + 1))
            yield source, [each for each in drawn if each != source][:SIMILAR]

    return patch.object(umse_pairs, "_with_similar", with_any)


def half_replaced() -> AbstractContextManager[Any]:
    """Replace half of a mismatch's sentences, at least one, instead of one."""
    change_one = umse_pairs._changed

    def changed(summary: Sequence[str], other: Sequence[str], random: Random) -> str:
        own = set(map(umse_pairs.text_digest, summary))
        foreign = [each for each in other if umse_pairs.text_digest(each) not in own]
        count = min(len(summary) // 2, len(foreign))
        if count < 2:
            return change_one(summary, other, random)
        texts = dict(
            zip(random.sample(range(len(summary)), count), random.sample(foreign, count), strict=True)
        )
        return " ".join(texts.get(place, each) for place, each in enumerate(summary))

    return patch.object(umse_pairs, "_changed", changed)


def single_sentences() -> AbstractContextManager[Any]:
    """Match each sentence of a reference with its article; sentences of similar ones' references do not."""
    made = umse_pairs._candidates

    def candidates(
        scenario: str, source: Source, similar: Sequence[Source], random: Random, as_long: bool
    ) -> Iterator[tuple[str, tuple[str, ...], list[str]]]:
        if scenario != "sum_doc":
            yield from made(scenario, source, similar, random, as_long)
            return
        for summary in source.summaries():
            for sentence in summary:
                foreign = [random.choice(random.choice(each.summaries())) for each in similar]
                yield sentence, (source.article,), [each for each in foreign if each not in summary]

    return patch.object(umse_pairs, "_candidates", candidates)


CHANGES: Mapping[str, Callable[[], AbstractContextManager[Any]]] = {
    "none": nullcontext,
    "random_articles": random_articles,
    "half_replaced": half_replaced,
    "single_sentences": single_sentences,
    "temperature_2": partial(at_temperature, 2.0),
    "temperature_half": partial(at_temperature, 0.5),
    "contrast": partial(with_contrast, 1.0),
    "sharp_contrast": partial(with_contrast, 0.2),
}
