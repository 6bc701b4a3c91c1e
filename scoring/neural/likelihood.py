"""Mean log-probabilities of texts given others, in batches of bounded size."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import torch

from scoring.neural.bart import Bart, Ids
from scoring.neural.batching import cut, in_halves
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
        """The last source of the previous batch, since it may come first in the next."""

    def of(self, pairs: Sequence[Pair]) -> list[float | None]:
        """Return the mean natural log-probability of each target's tokens; None if out of memory.

        Sources are computed in order of first occurrence; pairs of one source need not be adjacent.
        """
        order = {source: place for place, (source, _) in reversed(list(enumerate(pairs)))}
        distinct = sorted(set(pairs), key=lambda pair: (order[pair[0]], pair[1]))
        found = dict[Pair, float | None]()
        limit = tokens_per_batch()
        for batch in cut(distinct, lambda batch, pair: _size([*batch, pair]) <= limit):
            found |= in_halves(batch, self._means)
        return [found[pair] for pair in pairs]

    def _means(self, pairs: Sequence[Pair]) -> list[float]:
        """Return the means of pairs in which those of one source are adjacent."""
        targets = {
            source: [target for _, target in each] for source, each in groupby(pairs, lambda pair: pair[0])
        }
        new = [source for source in targets if source not in self._last_encoded]
        encoded = self._last_encoded | dict(zip(new, self._model.encode(new) if new else (), strict=True))
        logs = self._model.log_probabilities([encoded[source] for source in targets], list(targets.values()))
        last = pairs[-1][0]
        self._last_encoded = {last: encoded[last].clone()}
        return torch.stack([each.mean() for each in logs]).tolist()


def _size(pairs: Sequence[Pair]) -> int:
    """Return the tokens of the pairs; a source counts once."""
    return sum(map(len, {source for source, _ in pairs})) + sum(len(target) for _, target in pairs)
