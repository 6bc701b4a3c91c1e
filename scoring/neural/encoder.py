"""Vectors of tokens from a BERT-like encoder; each distinct sequence is encoded once."""

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from transformers import PreTrainedConfig

from scoring.neural.batching import distinct_in_batches, padded
from scoring.neural.encoder_pass import COUNTING_FROM_PADDING, EncoderPass
from scoring.neural.finiteness import ModelWatch
from scoring.neural.loading import load_encoder
from scoring.neural.tokens import NO_LIMIT, TextTokenizer
from scoring.weights.model_files import MissingWeights

POSITIONS_BEHIND_PADDING = (
    *COUNTING_FROM_PADDING,
    "data2vec-text",
    "ibert",
    "longformer",
    "mpnet",
    "roberta-prelayernorm",
    "xlm-roberta-xl",
    "xmod",
)
"""Kinds of models whose first position embeddings, up to the padding's id, belong to no token."""


class Encoder:
    """A folder's encoder, without the layers above `depth`, and its tokenizer."""

    def __init__(self, folder: Path, precision: str = "float32", depth: int | None = None) -> None:
        self.tokens = TextTokenizer(folder)
        self.model = load_encoder(folder, precision, may_lack=("pooler.",))
        self.layers: int = self.model.config.num_hidden_layers
        if depth is not None:
            if not 0 <= depth <= self.layers:
                raise MissingWeights(
                    f"The model in {folder} has {self.layers} layers, so there is no {depth}."
                )
            blocks = getattr(getattr(self.model, "encoder", None), "layer", None)
            if isinstance(blocks, torch.nn.ModuleList):
                # The library records the embeddings' output only if a block follows.
                del blocks[max(1, depth) :]
        self._pass = EncoderPass.of(self.model)
        self._watched = ModelWatch(self.model)

    @property
    def limit(self) -> int:
        """The longest input in tokens: what the tokenizer states or the position embeddings allow."""
        return input_limit(self.model.config, self.tokens)

    @torch.inference_mode()
    def states(
        self,
        sequences: Sequence[tuple[int, ...]],
        layers: Sequence[int],
        combine: Callable[[torch.Tensor], torch.Tensor] | None = None,
    ) -> list[torch.Tensor | None]:
        """Return the vectors [layers, tokens, dimensions] of each sequence; None if out of memory.

        Layer 0 is the output of the embeddings, k that of block k; negative ones count from the last.
        `combine` turns a batch [sequences, layers, tokens, dimensions] into what is kept: any number of
        layers and dimensions, but the same sequences and tokens, each token by itself.
        """
        return distinct_in_batches(sequences, lambda batch: self._states(batch, layers, combine))

    def _states(
        self,
        sequences: Sequence[tuple[int, ...]],
        layers: Sequence[int],
        combine: Callable[[torch.Tensor], torch.Tensor] | None,
    ) -> list[torch.Tensor]:
        if self._pass is not None:
            joined = self._pass.states(sequences, layers)[None]
            joined = joined if combine is None else combine(joined)
            return [each.clone() for each in joined[0].split([len(ids) for ids in sequences], dim=1)]
        ids, mask = padded(sequences, self.tokens.padding)
        output, marks = self._watched.run(
            mask, lambda: self.model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        )
        chosen = torch.stack([output.hidden_states[layer] for layer in layers], dim=1)
        chosen = chosen + marks[:, None, None, None].to(chosen.dtype)
        if combine is not None:
            chosen = combine(chosen)
        return [
            vectors[:, : len(sequence)].clone() for sequence, vectors in zip(sequences, chosen, strict=True)
        ]


def input_limit(config: PreTrainedConfig, tokens: TextTokenizer) -> int:
    """Return the longest input in tokens by the tokenizer and the model's position embeddings."""
    positions = position_limit(config)
    return min(positions, tokens.own_limit or positions)


def position_limit(config: PreTrainedConfig) -> int:
    """Return the longest input in tokens by the model's position embeddings."""
    positions: int = getattr(config, "max_position_embeddings", NO_LIMIT)
    return positions - config.pad_token_id - 1 if config.model_type in POSITIONS_BEHIND_PADDING else positions
