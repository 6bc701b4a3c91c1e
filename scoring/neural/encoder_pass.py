"""The forward pass of BERT and RoBERTa over texts of unequal length, without padding.

The modules of transformers compute everything that concerns single tokens. Here the texts lie end to end, so
that no product has rows for padding; query, key and value are one product; attention takes texts of equal
length together and needs no mask; and the last block computes only the tokens that are wanted.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, Self

import torch
from torch import Tensor
from torch.nn.functional import linear
from transformers import PreTrainedModel

from scoring.neural.device import device
from scoring.neural.finiteness import TextWatch
from scoring.neural.packed_attention import Span, attend

COUNTING_FROM_PADDING = ("roberta", "xlm-roberta", "camembert")
"""Kinds of models whose positions begin after the padding's id, and whose padding has no position."""
KINDS = ("bert", *COUNTING_FROM_PADDING)


@dataclass(frozen=True, slots=True)
class Sight:
    """The tokens that each token sees: spans of queries and of keys, as in `attend`.

    `keys` names the token of each key; without it keys are the tokens themselves, in order. `prefix` [layers,
    keys and values, rows, dimensions] comes before the tokens, and counts in `keys`.
    """

    spans: Sequence[Span]
    keys: Tensor | None = None
    prefix: Tensor | None = None

    @classmethod
    def own(cls, lengths: Iterable[int]) -> Self:
        """Return that each text sees all of its own tokens."""
        return cls([(length, length) for length in lengths])


class EncoderPass:
    """Runs a BERT or RoBERTa without head, up to the last layer wanted."""

    def __init__(self, model: Any) -> None:
        """Join the model's query, key and value matrices; otherwise it stays unchanged."""
        self._embeddings = model.embeddings
        self._blocks: list[Any] = list(model.encoder.layer)
        self._joined = [_joined(block.attention.self) for block in self._blocks]
        self._heads: int = model.config.num_attention_heads
        counts = model.config.model_type in COUNTING_FROM_PADDING
        self._padding: int | None = model.config.pad_token_id if counts else None

    @classmethod
    def of(cls, model: PreTrainedModel) -> Self | None:
        """Return the pass of the model's encoder; None unless it is of a known kind with absolute positions.

        The library then has to run it, on padded texts.
        """
        config, encoder = model.config, model.base_model
        positions = getattr(config, "position_embedding_type", None) or "absolute"
        known = config.model_type in KINDS and not config.is_decoder and positions == "absolute"
        return cls(encoder) if known else None

    def states(
        self,
        sequences: Sequence[Sequence[int]],
        layers: Sequence[int],
        types: Sequence[Sequence[int]] | None = None,
    ) -> Tensor:
        """Return the vectors [layers, tokens, dimensions] of all sequences of ids, end to end; none is empty.

        Layer 0 is the output of the embeddings, k that of block k; negative ones count from the last. `types`
        are the tokens' types; 0 without.
        """
        wanted = [layer % (len(self._blocks) + 1) for layer in layers]
        found = {}
        lengths = [len(ids) for ids in sequences]
        all_layers = self.layers(self._embedded(sequences, types), Sight.own(lengths), lengths)
        for index, hidden in enumerate(all_layers):
            if index in wanted:
                found[index] = hidden
            if index == max(wanted):
                break
        return torch.stack([found[layer] for layer in wanted])

    def last_states(
        self,
        sequences: Sequence[Sequence[int]],
        places: Sequence[Sequence[int]],
        types: Sequence[Sequence[int]] | None = None,
    ) -> Tensor:
        """Return the last layer's vectors [places, dimensions] at some places of each sequence.

        Of each sequence at least one place is wanted. `types` as in `states`.
        """
        lengths = [len(ids) for ids in sequences]
        hidden, own, watch = self._embedded(sequences, types), Sight.own(lengths), TextWatch(lengths)
        last = len(self._blocks) - 1
        for index in range(last):
            hidden = self._through(index, hidden, own, watch)
        starts = accumulate(lengths, initial=0)
        rows = [start + place for start, some in zip(starts, places, strict=False) for place in some]
        spans = [(len(some), len(ids)) for some, ids in zip(places, sequences, strict=True)]
        wanted = torch.tensor(rows, device=device())
        return watch.marked(self._through(last, hidden, Sight(spans), watch, wanted), wanted)

    def embedded(
        self, ids: Sequence[int], positions: Sequence[int], types: Sequence[int] | None = None
    ) -> Tensor:
        """Return the output of the embeddings [tokens, dimensions]."""
        given = {"input_ids": ids, "position_ids": positions, "token_type_ids": types}
        tensors = {
            name: torch.tensor([each], device=device()) for name, each in given.items() if each is not None
        }
        found: Tensor = self._embeddings(**tensors)[0]
        return found

    def layers(self, hidden: Tensor, sight: Sight, lengths: Sequence[int]) -> Iterator[Tensor]:
        """Yield `hidden`, the embeddings' output [tokens, dimensions], and that of each block.

        From the block on in which a text of `lengths` overflows, all its vectors are NaN.
        """
        yield hidden
        watch = TextWatch(lengths)
        for index in range(len(self._blocks)):
            hidden = self._through(index, hidden, sight, watch)
            yield watch.marked(hidden)

    def _embedded(
        self, sequences: Sequence[Sequence[int]], types: Sequence[Sequence[int]] | None = None
    ) -> Tensor:
        flat = None if types is None else list(chain.from_iterable(types))
        return self.embedded(list(chain.from_iterable(sequences)), list(self._positions(sequences)), flat)

    def _positions(self, sequences: Sequence[Sequence[int]]) -> Iterator[int]:
        for ids in sequences:
            if self._padding is None:
                yield from range(len(ids))
                continue
            position = self._padding
            for each in ids:
                position += each != self._padding
                yield self._padding if each == self._padding else position

    def _through(
        self, index: int, hidden: Tensor, sight: Sight, watch: TextWatch, rows: Tensor | None = None
    ) -> Tensor:
        """Return the output of a block for all tokens, or for the `rows` that are wanted."""
        block, (weight, bias) = self._blocks[index], self._joined[index]
        watch.see(hidden)
        if rows is None:
            joined = linear(hidden, weight, bias)
            watch.see(joined)
            queries, keys, values = joined.chunk(3, dim=-1)
        else:
            width = hidden.shape[-1]
            keys, values = linear(hidden, weight[width:], bias[width:]).chunk(2, dim=-1)
            hidden = hidden[rows]
            queries = linear(hidden, weight[:width], bias[:width])
            watch.see(queries, rows)
            watch.see(keys)
        if sight.prefix is not None:
            before = sight.prefix[index]
            keys, values = torch.cat([before[0], keys]), torch.cat([before[1], values])
        if sight.keys is not None:
            keys, values = keys[sight.keys], values[sight.keys]
        attended = attend(queries, keys, values, self._heads, sight.spans)
        hidden = block.attention.output(attended, hidden)
        found: Tensor = block.output(block.intermediate(hidden), hidden)
        watch.see(found, rows)
        return found


def _joined(attention: torch.nn.Module) -> tuple[Tensor, Tensor]:
    """Return weight and bias of all three projections, which share its memory from now on."""
    three = [attention.get_submodule(name) for name in ("query", "key", "value")]
    weight = torch.cat([each.get_parameter("weight").detach() for each in three])
    bias = torch.cat([each.get_parameter("bias").detach() for each in three])
    for each, rows, entries in zip(three, weight.chunk(3), bias.chunk(3), strict=True):
        each.get_parameter("weight").data = rows
        each.get_parameter("bias").data = entries
    return weight, bias
