"""The forward pass of BERT and RoBERTa over texts of unequal length, without padding.

The modules of transformers do all that concerns one token alone, with the configuration's activation, norms
and positions. What is different: the texts lie end to end, so that no product has a row for padding; query,
key and value are one product; attention, the only part in which tokens meet, takes texts of equal length
together and needs no mask.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import torch
from torch.nn.functional import linear, scaled_dot_product_attention
from transformers import PreTrainedModel

from scoring.neural.device import device

COUNTING_FROM_PADDING = ("roberta", "xlm-roberta", "camembert")
"""Kinds of models whose positions begin behind the padding's id, and where padding has no position."""
KINDS = ("bert", *COUNTING_FROM_PADDING)


class EncoderPass:
    """Runs a model for which `fits` holds, at most as far as wanted."""

    def __init__(self, model: PreTrainedModel) -> None:
        """The model stays as it is, but its query, key and value matrices become parts of one."""
        self._embeddings = model.get_submodule("embeddings")
        self._blocks: list[Any] = list(model.get_submodule("encoder.layer").children())
        self._joined = [_joined(block.attention.self) for block in self._blocks]
        self._heads: int = model.config.num_attention_heads
        counts = model.config.model_type in COUNTING_FROM_PADDING
        self._padding: int | None = model.config.pad_token_id if counts else None

    @staticmethod
    def fits(model: PreTrainedModel) -> bool:
        """Whether the model is an encoder of a kind that is known here, with absolute positions."""
        config = model.config
        positions = getattr(config, "position_embedding_type", None) or "absolute"
        return config.model_type in KINDS and not config.is_decoder and positions == "absolute"

    def states(self, sequences: Sequence[Sequence[int]], layers: Sequence[int]) -> torch.Tensor:
        """Vectors [layers, tokens, dimensions] of all sequences of ids, none empty, one after the other.

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
        """[tokens, dimensions] from query, key and value, side by side, of runs of (length, sequences)."""
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
    """Weight and bias of all three projections, which from now on share its memory."""
    three = [attention.get_submodule(name) for name in ("query", "key", "value")]
    weight = torch.cat([each.get_parameter("weight").detach() for each in three])
    bias = torch.cat([each.get_parameter("bias").detach() for each in three])
    for each, rows, entries in zip(three, weight.chunk(3), bias.chunk(3), strict=True):
        each.get_parameter("weight").data = rows
        each.get_parameter("bias").data = entries
    return weight, bias
