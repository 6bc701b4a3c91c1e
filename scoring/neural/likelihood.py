"""Mean log-probabilities of texts given others, in batches of bounded size."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import torch

from scoring.neural.bart import Bart, Ids
from scoring.neural.batching import in_halves
from scoring.neural.device import tokens_per_batch
from scoring.neural.tokens import TextTokenizer

Pair = tuple[Ids, Ids]
"""Source and target."""


class Likelihood:
    """A folder's BART and its tokenizer."""

    def __init__(self, folder: Path, precision: str = "float32") -> None:
        self.tokens = TextTokenizer(folder)
        self._model = Bart(folder, precision)
        self.limit = self._model.limit
        self._last_encoded: dict[Ids, torch.Tensor] = {}
        """The source of the batch before that came last, since it may come first in the next."""

    def of(self, pairs: Sequence[Pair]) -> list[float | None]:
        """For each pair the mean natural log-probability of the target's tokens; None if out of memory.

        Sources are taken in the order in which they come first: pairs of one source need not stand together.
        """
        order = {source: place for place, (source, _) in reversed(list(enumerate(pairs)))}
        distinct = sorted(set(pairs), key=lambda pair: (order[pair[0]], pair[1]))
        found = dict[Pair, float | None]()
        for batch in _cut(distinct, tokens_per_batch()):
            for index, mean in in_halves(batch, lambda part: self._means([distinct[i] for i in part])):
                found[distinct[index]] = mean
        return [found[pair] for pair in pairs]

    def _means(self, pairs: Sequence[Pair]) -> list[float]:
        """For pairs of which those of one source stand together."""
        targets = {
            source: [target for _, target in each] for source, each in groupby(pairs, lambda pair: pair[0])
        }
        new = [source for source in targets if source not in self._last_encoded]
        encoded = self._last_encoded | dict(zip(new, self._model.encode(new) if new else (), strict=True))
        logs = self._model.log_probabilities([encoded[source] for source in targets], list(targets.values()))
        last = pairs[-1][0]
        self._last_encoded = {last: encoded[last].clone()}
        return torch.stack([each.mean() for each in logs]).tolist()


def _cut(pairs: Sequence[Pair], tokens: int) -> Iterator[list[int]]:
    """Consecutive indices, at least one at a time, of so many tokens at most; a source counts once."""
    batch: list[int] = []
    total = 0
    for index, (source, target) in enumerate(pairs):
        known = batch and pairs[batch[-1]][0] == source
        size = len(target) + (0 if known else len(source))
        if batch and total + size > tokens:
            yield batch
            batch, total, size = [], 0, len(source) + len(target)
        batch.append(index)
        total += size
    if batch:
        yield batch
