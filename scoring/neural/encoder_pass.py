"""The forward pass of BERT and RoBERTa over texts of unequal length, without padding.

The modules of transformers compute everything that concerns single tokens. Here the texts lie end to end, so
that no product has rows for padding; query, key and value are one product; and attention takes texts of equal
length together and needs no mask.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import torch
from torch.nn.functional import linear, scaled_dot_product_attention
from transformers import PreTrainedModel

from scoring.neural.device import device

COUNTING_FROM_PADDING = ("roberta", "xlm-roberta", "camembert")
"""Kinds of models whose positions begin after the padding's id, and whose padding has no position."""
KINDS = ("bert", *COUNTING_FROM_PADDING)


class EncoderPass:
    """Runs a model for which `fits` holds, up to the last layer wanted."""

    def __init__(self, model: PreTrainedModel) -> None:
        """Join the model's query, key and value matrices; otherwise it stays unchanged."""
        self._embeddings = model.get_submodule("embeddings")
        self._blocks: list[Any] = list(model.get_submodule("encoder.layer").children())
        self._joined = [_joined(block.attention.self) for block in self._blocks]
        self._heads: int = model.config.num_attention_heads
        counts = model.config.model_type in COUNTING_FROM_PADDING
        self._padding: int | None = model.config.pad_token_id if counts else None

    @staticmethod
    def fits(model: PreTrainedModel) -> bool:
        """Return whether the model is an encoder of a known kind with absolute positions."""
        config = model.config
        positions = getattr(config, "position_embedding_type", None) or "absolute"
        return config.model_type in KINDS and not config.is_decoder and positions == "absolute"

    def states(self, sequences: Sequence[Sequence[int]], layers: Sequence[int]) -> torch.Tensor:
        """Return the vectors [layers, tokens, dimensions] of all sequences of ids, end to end; none is empty.

        Layer 0 is the output of the embeddings, k that of block k; negative ones count from the last.
        """
        wanted = [layer % (len(self._blocks) + 1) for layer in layers]
        ids = torch.tensor([[each for ids in sequences for each in ids]], device=device())
        positions = torch.tensor([list(self._positions(sequences))], device=device())
        runs = [(length, len(list(run))) for length, run in groupby(sequences, len)]
        hidden = self._embeddings(input_ids=ids, position_ids=positions)[0]
        found = {0: hidden}
        for index, (block, joined) in enumerate(zip(self._blocks, self._joined, strict=True), start=1):
            if index > max(wanted):
                break
            hidden = block.attention.output(self._attended(linear(hidden, *joined), runs), hidden)
            hidden = block.output(block.intermediate(hidden), hidden)
            if index in wanted:
                found[index] = hidden
        return torch.stack([found[layer] for layer in wanted])

    def _positions(self, sequences: Sequence[Sequence[int]]) -> Iterator[int]:
        for ids in sequences:
            if self._padding is None:
                yield from range(len(ids))
                continue
            position = self._padding
            for each in ids:
                position += each != self._padding
                yield self._padding if each == self._padding else position

    def _attended(self, joined: torch.Tensor, runs: Sequence[tuple[int, int]]) -> torch.Tensor:
        """Return attention [tokens, dimensions] from joined query, key and value.

        `runs` are (length, number of sequences) of neighbours of equal length.
        """
        mixed = joined.new_empty(len(joined), joined.shape[1] // 3)
        start = 0
        for length, count in runs:
            end = start + length * count
            query, key, value = (
                joined[start:end].view(count, length, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
            )
            attended = scaled_dot_product_attention(query, key, value)
            mixed[start:end].view(count, length, self._heads, -1)[:] = attended.transpose(1, 2)
            start = end
        return mixed


def _joined(attention: torch.nn.Module) -> tuple[torch.Tensor, torch.Tensor]:
    """Return weight and bias of all three projections, which share its memory from now on."""
    three = [attention.get_submodule(name) for name in ("query", "key", "value")]
    weight = torch.cat([each.get_parameter("weight").detach() for each in three])
    bias = torch.cat([each.get_parameter("bias").detach() for each in three])
    for each, rows, entries in zip(three, weight.chunk(3), bias.chunk(3), strict=True):
        each.get_parameter("weight").data = rows
        each.get_parameter("bias").data = entries
    return weight, bias
