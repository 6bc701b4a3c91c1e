"""The parts of T5's and mT5's layers. A norm's gain is multiplied into the next matrix."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

import torch
from torch.nn.functional import gelu, linear, relu, scaled_dot_product_attention
from transformers import PreTrainedConfig
from transformers.activations import ACT2FN

from scoring.neural.checkpoint import Checkpoint
from scoring.neural.finiteness import TextWatch

_ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": relu,
    "gelu_new": partial(gelu, approximate="tanh"),
}
"""Computed by one kernel; others come from transformers."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The encoder's states of a batch, for the decoder, and where they end."""

    states: torch.Tensor
    """[inputs, tokens, width], without the gain of the encoder's last norm."""
    closed: torch.Tensor
    """[inputs, 1, tokens]: 0 for states, minus infinity after the end of an input."""


class SelfAttention:
    """Tokens attend to those of their own text; texts lie end to end."""

    def __init__(self, config: PreTrainedConfig, tensors: Checkpoint, layer: str) -> None:
        self._heads = config.num_heads
        gain = tensors.raw(f"{layer}.layer_norm.weight")
        parts = [tensors.raw(f"{layer}.SelfAttention.{part}.weight") for part in "qkv"]
        self._inner = tensors.placed(torch.cat(parts) * gain)
        self._outer = tensors[f"{layer}.SelfAttention.o.weight"]

    def __call__(
        self, hidden: torch.Tensor, lengths: Sequence[int], bias: torch.Tensor, watch: TextWatch
    ) -> torch.Tensor:
        """Return [tokens, width] from the same for texts of `lengths`; `bias` is a PositionBias's."""
        parts = linear(hidden, self._inner).view(len(hidden), 3, self._heads, -1)
        watch.see(parts)
        mixed = torch.empty_like(parts[:, 0])
        start = 0
        for length, texts in groupby(lengths):
            end = start + length * len(list(texts))
            query, key, value = parts[start:end].unflatten(0, (-1, length)).permute(2, 0, 3, 1, 4)
            found = scaled_dot_product_attention(
                query, key, value, attn_mask=bias[..., :length, :length], scale=1.0
            )
            mixed[start:end] = found.transpose(1, 2).flatten(0, 1)
            start = end
        return linear(mixed.flatten(1), self._outer)


class CrossAttention:
    """The decoder's few tokens attend to the encoder's many.

    Queries are multiplied by the key matrix and attend to the states themselves, whose mixtures are
    multiplied by the value matrix. Keys and values of every state would give the same result with many times
    the work.
    """

    def __init__(self, config: PreTrainedConfig, tensors: Checkpoint, layer: str) -> None:
        heads = (config.num_heads, -1)
        gain = tensors.raw(f"{layer}.layer_norm.weight")
        states_gain = tensors.raw("encoder.final_layer_norm.weight")
        query, key, value = (tensors.raw(f"{layer}.EncDecAttention.{part}.weight") for part in "qkv")
        self._query = tensors.placed((query * gain).unflatten(0, heads))
        self._key = tensors.placed((key * states_gain).unflatten(0, heads))
        self._value = tensors.placed((value * states_gain).unflatten(0, heads))
        """[heads, width of a head, width] each."""
        self._outer = tensors[f"{layer}.EncDecAttention.o.weight"]

    def __call__(self, hidden: torch.Tensor, memory: Memory, watch: TextWatch) -> torch.Tensor:
        """Return [inputs, steps, width] from the same."""
        query = torch.einsum("bsw,hkw->bshk", hidden, self._query)
        absorbed = torch.einsum("bshk,hkw->bshw", query, self._key)
        watch.see(absorbed.flatten(0, 1))
        weights = absorbed.flatten(1, 2) @ memory.states.transpose(1, 2) + memory.closed
        mixed = (weights.softmax(dim=-1) @ memory.states).view_as(absorbed)
        return linear(torch.einsum("bshw,hkw->bshk", mixed, self._value).flatten(2), self._outer)


class FeedForward:
    """The part of a layer that sees each token alone, with or without a gate."""

    def __init__(self, config: PreTrainedConfig, tensors: Checkpoint, layer: str) -> None:
        self._gated = config.is_gated_act
        self._activation = _ACTIVATIONS.get(config.dense_act_fn) or ACT2FN[config.dense_act_fn]
        gain = tensors.raw(f"{layer}.layer_norm.weight")
        parts = ("wi_0", "wi_1") if self._gated else ("wi",)
        inner = [tensors.raw(f"{layer}.DenseReluDense.{part}.weight") for part in parts]
        self._inner = tensors.placed(torch.cat(inner) * gain)
        self._outer = tensors[f"{layer}.DenseReluDense.wo.weight"]

    def __call__(self, hidden: torch.Tensor, watch: TextWatch) -> torch.Tensor:
        """Return [tokens, width] from the same."""
        inner = linear(hidden, self._inner)
        watch.see(inner)
        if not self._gated:
            return linear(self._activation(inner), self._outer)
        signal, gate = inner.chunk(2, dim=-1)
        return linear(self._activation(signal) * gate, self._outer)


class PositionBias:
    """The bias added to a query's product with a key by their distance; shared by a half's layers."""

    def __init__(self, config: PreTrainedConfig, tensors: Checkpoint, half: str) -> None:
        self._config = config
        self._sees_ahead = half == "encoder"
        self._table = tensors[f"{half}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
        """[buckets, heads]"""

    def __call__(self, length: int) -> torch.Tensor:
        """Return [1, heads, length, length], rows for queries; minus infinity for later tokens in a decoder.

        Torch has no fast kernel for a bias of fewer than four axes, or without contiguous keys.
        """
        distances = torch.arange(1 - length, length, device=self._table.device)
        buckets = position_buckets(
            distances,
            self._config.relative_attention_num_buckets,
            self._config.relative_attention_max_distance,
            self._sees_ahead,
        )
        by_distance = self._table[buckets].T
        if not self._sees_ahead:
            by_distance = by_distance.masked_fill(distances > 0, -math.inf)
        return by_distance.contiguous().unfold(-1, length, 1).flip(1)[None]


def position_buckets(distances: torch.Tensor, count: int, farthest: int, sees_ahead: bool) -> torch.Tensor:
    """Return the bucket, 0 to `count` - 1, of each distance (key minus query, in tokens).

    The first half of a direction's buckets hold one distance each, the others ranges that grow by a constant
    factor up to `farthest`; everything beyond shares the last. With `sees_ahead` each direction has half of
    the buckets, otherwise the one direction has all.
    """
    if sees_ahead:
        count //= 2
    offset = count * ((distances > 0) & sees_ahead)
    far = distances.abs() if sees_ahead else (-distances).clamp(min=0)
    single = count // 2
    # In float32 and in this order, since models were trained with its rounding.
    stretch = torch.log(far.float() / single) / math.log(farthest / single) * (count - single)
    wide = (single + stretch.clamp(min=0).long()).clamp(max=count - 1)
    return torch.where(far < single, far, wide) + offset
