"""The probability of texts given others by BART, with a forward pass of our own over the library's weights.

Tokens of a batch lie end to end, without padding. A source is encoded once for all its targets, and what
targets of one source have in common at their beginnings is computed once. The library computes each pair
alone.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from torch.nn.functional import linear

from scoring.neural.device import device
from scoring.neural.finiteness import TextWatch, trace
from scoring.neural.loading import load_config, load_model
from scoring.neural.packed_attention import Span, attend
from scoring.neural.prefix_tree import PrefixTrees
from scoring.weights.model_files import MissingWeights

Ids = tuple[int, ...]

CPU_BLOCK, GPU_BLOCK = (512, 1024), (8192, 8192)
"""Logits computed at a time, [tokens, vocabulary]; on a CPU they fit into its cache."""


class Bart:
    """A folder's BartForConditionalGeneration."""

    def __init__(self, folder: Path, precision: str = "float32") -> None:
        kind = load_config(folder).model_type
        if kind != "bart":
            raise MissingWeights(
                f"The model in {folder} is of the type {kind}; only bart can be read here "
                "(facebook/bart-large-cnn and its like), not mBART, PEGASUS or T5."
            )
        model: Any = load_model(folder, transformers.BartForConditionalGeneration, precision)
        self.limit: int = model.config.max_position_embeddings
        """The longest source or target in tokens."""
        self._start: int = model.config.decoder_start_token_id
        self._encoder, self._decoder = model.model.encoder, model.model.decoder
        self._output: torch.Tensor = model.lm_head.weight
        self._output_bias: torch.Tensor = model.final_logits_bias[0].to(self._output.dtype)

    @torch.inference_mode()
    def encode(self, sources: Sequence[Ids]) -> list[torch.Tensor]:
        """Return the states [tokens, dimensions] of each source."""
        lengths = [len(source) for source in sources]
        states = self._embedded(
            self._encoder,
            [token for source in sources for token in source],
            [position for length in lengths for position in range(length)],
        )
        spans = [(length, length) for length in lengths]
        watch = TextWatch(lengths)
        for layer in self._encoder.layers:
            attended = _attended(layer.self_attn, states, states, spans, watch)
            states = layer.self_attn_layer_norm(states + attended)
            states = _fed_forward(layer, states, watch)
        return list(watch.marked(states).split(lengths))

    @torch.inference_mode()
    def log_probabilities(
        self, sources: Sequence[torch.Tensor], targets: Sequence[Sequence[Ids]]
    ) -> list[torch.Tensor]:
        """Return the natural log-probabilities [tokens] of each target's tokens.

        Targets come in groups, one for each encoded source.
        """
        trees = PrefixTrees([[(self._start, *target[:-1]) for target in group] for group in targets])
        steps = torch.tensor([node for path in trees.paths for node in path], device=device())
        states = self._decoded(sources, trees, steps)
        labels = torch.tensor([token for group in targets for target in group for token in target])
        labels = labels.to(device())
        products = states[steps].float() * self._output[labels].float()
        logits = products.sum(dim=-1) + self._output_bias[labels]
        found = logits - self._log_normalisers(states)[steps]
        return list(found.split([len(path) for path in trees.paths]))

    def _decoded(
        self, sources: Sequence[torch.Tensor], trees: PrefixTrees, steps: torch.Tensor
    ) -> torch.Tensor:
        """Return the states [nodes, dimensions] of the trees' nodes; `steps` are the nodes of all targets."""
        states = self._embedded(self._decoder, trees.tokens, trees.positions)
        memory = torch.cat(list(sources))
        own_spans = [(len(path), len(path)) for path in trees.paths]
        source_spans = [(size, len(source)) for size, source in zip(trees.sizes, sources, strict=True)]
        firsts = torch.tensor(trees.firsts, device=device())
        watch = TextWatch(trees.sizes)
        for layer in self._decoder.layers:
            attention = layer.self_attn
            projections = (attention.q_proj, attention.k_proj, attention.v_proj)
            projected = [project(states) for project in projections]
            watch.see(torch.cat(projected, dim=-1))
            queries, keys, values = (each[steps] for each in projected)
            mixed = attend(queries, keys, values, attention.num_heads, own_spans, causal=True)
            states = layer.self_attn_layer_norm(states + attention.out_proj(mixed[firsts]))
            attended = _attended(layer.encoder_attn, states, memory, source_spans, watch)
            states = layer.encoder_attn_layer_norm(states + attended)
            states = _fed_forward(layer, states, watch)
        return watch.marked(states)

    def _log_normalisers(self, states: torch.Tensor) -> torch.Tensor:
        """Return the log of the sum of exponentiated logits [nodes], without holding all logits."""
        rows, columns = GPU_BLOCK if states.is_cuda else CPU_BLOCK
        return torch.cat(
            [
                torch.stack(
                    [
                        _log_sum_exp_(linear(block, output, bias).float())
                        for output, bias in zip(
                            self._output.split(columns), self._output_bias.split(columns), strict=True
                        )
                    ]
                ).logsumexp(dim=0)
                for block in states.split(rows)
            ]
        )

    @staticmethod
    def _embedded(half: Any, tokens: Sequence[int], positions: Sequence[int]) -> torch.Tensor:
        places = torch.tensor(positions, device=device()) + half.embed_positions.offset
        embedded = half.embed_tokens(torch.tensor(tokens, device=device()))
        states: torch.Tensor = half.layernorm_embedding(embedded + half.embed_positions.weight[places])
        return states


def _attended(
    attention: Any, states: torch.Tensor, memory: torch.Tensor, spans: Iterable[Span], watch: TextWatch
) -> torch.Tensor:
    """Return what the tokens of `states` take from those of `memory`, within spans as in `attend`."""
    queries, keys, values = attention.q_proj(states), attention.k_proj(memory), attention.v_proj(memory)
    watch.see(queries)
    values = values + trace(keys)[:, None].to(values.dtype)  # attention hides NaN in keys, not in values
    mixed = attend(queries, keys, values, attention.num_heads, spans)
    attended: torch.Tensor = attention.out_proj(mixed)
    return attended


def _log_sum_exp_(logits: torch.Tensor) -> torch.Tensor:
    """Return the log of each row's sum of exponentials; overwrites `logits` to save a copy."""
    top = logits.amax(dim=-1, keepdim=True)
    return logits.sub_(top).exp_().sum(dim=-1).log_() + top.squeeze(-1)


def _fed_forward(layer: Any, states: torch.Tensor, watch: TextWatch) -> torch.Tensor:
    inner = layer.fc1(states)
    watch.see(inner)
    states = states + layer.fc2(layer.activation_fn(inner))
    watch.see(states)
    normed: torch.Tensor = layer.final_layer_norm(states)
    return normed
