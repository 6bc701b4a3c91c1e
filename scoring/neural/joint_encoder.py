"""A RoBERTa that reads several texts as one sequence, with what UniTE and UMSE add to its attention."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any

import torch
from torch import Tensor

from scoring.neural.batching import distinct_in_batches
from scoring.neural.device import device
from scoring.neural.encoder_pass import EncoderPass, Sight
from scoring.neural.layer_mix import LayerSums, layer_moments, layer_sums
from scoring.neural.segments import Joined


class JointEncoder:
    """A RoBERTa, or a model built like it, without head.

    `prefix` [layers, keys and values, rows, dimensions] has keys and values that each layer puts before those
    of the tokens. They have positions but no states, and their order has no effect. With `regional` the
    second and the third text do not see each other. With `restart` each text counts its positions from 0, as
    UniTE's authors do; otherwise positions continue through all texts.
    """

    def __init__(
        self, model: Any, prefix: Tensor | None = None, *, regional: bool = False, restart: bool = False
    ) -> None:
        model = model.to(device()).eval()
        self._config = model.config
        self._pass = EncoderPass(model)
        self._prefix = None if prefix is None else prefix.to(device(), model.dtype)
        self._regional = regional
        self._restart = restart

    @property
    def room(self) -> int:
        """The longest sequence in ids for which the encoder has positions."""
        return self._config.max_position_embeddings - self._first_position

    @property
    def _first_position(self) -> int:
        return self._config.pad_token_id + 1 + self._prefix_rows

    @property
    def _prefix_rows(self) -> int:
        return 0 if self._prefix is None else self._prefix.shape[2]

    @torch.inference_mode()
    def sums(self, sequences: Sequence[Joined]) -> list[LayerSums | None]:
        """Return the sums of each sequence for a mix of layers; None if it ran out of memory."""
        return distinct_in_batches(sequences, self._sums)

    def _sums(self, sequences: Sequence[Joined]) -> list[LayerSums]:
        ids = list(chain.from_iterable(each.ids for each in sequences))
        positions = list(chain.from_iterable(map(self._positions, sequences)))
        embedded = self._pass.embedded(ids, positions)
        lengths = [len(each) for each in sequences]
        layers = self._pass.layers(embedded, self._sight(sequences), lengths)
        moments = [layer_moments(each, lengths) for each in layers]
        return layer_sums(moments, [length * self._config.hidden_size for length in lengths])

    def _positions(self, sequence: Joined) -> Iterable[int]:
        if self._restart:
            return chain.from_iterable(map(range, sequence.lengths))
        return range(self._first_position, self._first_position + len(sequence))

    def _sight(self, sequences: Sequence[Joined]) -> Sight:
        if self._prefix is None and not self._regional:
            return Sight.own(map(len, sequences))
        prefix = range(self._prefix_rows)
        starts = accumulate(map(len, sequences), initial=len(prefix))
        seen = [
            (queries, (*prefix, *places))
            for each, start in zip(sequences, starts, strict=False)
            for queries, places in self._seen(each, start)
        ]
        keys = torch.tensor([place for _, places in seen for place in places], device=device())
        return Sight([(queries, len(places)) for queries, places in seen], keys, self._prefix)

    def _seen(self, sequence: Joined, start: int) -> Iterator[tuple[int, Sequence[int]]]:
        """Yield how many of the tokens, in order, see which places; the sequence is at `start`."""
        whole = range(start, start + len(sequence))
        if not self._regional:
            yield len(whole), whole
            return
        bounds = accumulate(sequence.lengths, initial=start)
        first, *others = (range(*each) for each in pairwise(bounds))
        yield len(first), whole
        for other in others:
            yield len(other), (*first, *other)
