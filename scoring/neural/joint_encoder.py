"""A RoBERTa that reads several texts as one sequence, with what UniTE and UMSE add to its attention."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from scoring.neural.batching import distinct_in_batches, padded
from scoring.neural.device import device
from scoring.neural.layer_mix import LayerSums, layer_moments, layer_sums
from scoring.neural.segments import Joined


class JointEncoder:
    """A RoBERTa, or a model built like it, without head.

    `prefix` [layers, 2, heads, rows, dimensions of a head] has keys and values that each layer puts before
    those of the tokens. They have positions but no states, and their order has no effect. With `regional` the
    second and the third text do not see each other. With `restart` each text counts its positions from 0, as
    UniTE's authors do; otherwise positions continue through all texts.
    """

    def __init__(
        self, model: Any, prefix: Tensor | None = None, *, regional: bool = False, restart: bool = False
    ) -> None:
        self._model = model.to(device()).eval()
        self._prefix = None if prefix is None else prefix.to(device(), self._model.dtype)
        self._regional = regional
        self._restart = restart
        self._padding: int = self._model.config.pad_token_id

    @property
    def room(self) -> int:
        """The longest sequence in ids for which the encoder has positions."""
        return self._model.config.max_position_embeddings - self._padding - 1 - self._prefix_rows

    @property
    def _prefix_rows(self) -> int:
        return 0 if self._prefix is None else self._prefix.shape[3]

    @torch.inference_mode()
    def sums(self, sequences: Sequence[Joined]) -> list[LayerSums | None]:
        """Return the sums of each sequence for a mix of layers; None if it ran out of memory."""
        return distinct_in_batches(sequences, self._sums)

    def _sums(self, sequences: Sequence[Joined]) -> list[LayerSums]:
        ids, mask = padded([each.ids for each in sequences], self._padding)
        segments, within = _segments(sequences, ids.shape[1])
        positions = within if self._restart else self._running(mask)
        states = self._layers(ids, positions, self._visible(mask, segments))
        moments = [layer_moments(each, mask) for each in states]
        width = self._model.config.hidden_size
        return layer_sums(moments, [tokens * width for tokens in mask.sum(dim=1).tolist()])

    def _running(self, mask: Tensor) -> Tensor:
        return (mask.cumsum(dim=1) + self._prefix_rows) * mask + self._padding

    def _visible(self, mask: Tensor, segments: Tensor) -> Tensor:
        """Return which tokens see which [sequences, 1, 1 or tokens, prefix rows and tokens]."""
        visible = mask[:, None, None, :].bool()
        if self._regional:
            seeing, seen = segments[:, None, :, None], segments[:, None, None, :]
            visible = visible & ((seeing == seen) | (seeing == 0) | (seen == 0))
        return torch.nn.functional.pad(visible, (self._prefix_rows, 0), value=True)

    def _layers(self, ids: Tensor, positions: Tensor, visible: Tensor) -> Iterator[Tensor]:
        """Yield the output of the embeddings and of each layer [sequences, tokens, dimensions]."""
        states = self._model.embeddings(input_ids=ids, position_ids=positions)
        yield states
        for number, layer in enumerate(self._model.encoder.layer):
            attended = self._attended(number, layer.attention.self, states, visible)
            states = layer.attention.output(attended, states)
            states = layer.output(layer.intermediate(states), states)
            yield states

    def _attended(self, number: int, attention: Any, states: Tensor, visible: Tensor) -> Tensor:
        query, key, value = (
            projection(states).unflatten(-1, (-1, attention.attention_head_size)).transpose(1, 2)
            for projection in (attention.query, attention.key, attention.value)
        )
        if self._prefix is not None:
            prefix = self._prefix[number][:, None].expand(-1, len(states), -1, -1, -1)
            key, value = torch.cat([prefix[0], key], dim=2), torch.cat([prefix[1], value], dim=2)
        found = scaled_dot_product_attention(query, key, value, attn_mask=visible)
        return found.transpose(1, 2).flatten(2)


def _segments(sequences: Sequence[Joined], columns: int) -> tuple[Tensor, Tensor]:
    """Return for each id [sequences, columns] its text's number and its place in that text.

    Padding counts as part of the last text.
    """
    place = torch.arange(columns)
    starts = torch.tensor([[0, *accumulate(each.lengths)][:-1] for each in sequences])
    segments = (place[None, :, None] >= starts[:, None, 1:]).sum(dim=2)
    return segments.to(device()), (place - starts.gather(1, segments)).to(device())
