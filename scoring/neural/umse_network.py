"""The network that UMSE trains: an encoder, a prefix for each scenario, and an estimator of two classes.

Torch's own autograd runs through it, so training and scoring share one definition.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch
import transformers
from torch import Tensor, nn
from transformers import DynamicCache

from scoring.neural.encoder import position_limit
from scoring.neural.encoder_pass import KINDS
from scoring.neural.loading import fill, load_config, load_model, load_tensors
from scoring.weights.model_files import MissingWeights

INPUT, KEYS = "input", "keys"
PERTURBED, SHARED, SEPARATE = "perturbed", "shared", "separate"
FIRST, MEAN = "first", "mean"
SCENARIOS = ("sum_ref", "sum_doc", "sum_doc_ref")
CLASSES = 2
FEWEST_TOKENS = 16
"""The fewest tokens, special ones included, that the encoder must have room for."""
WIDTHS = (3, 1)
"""Widths of the estimator's hidden layers, as multiples of the encoder's width."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The settings that a network is built from beside its encoder."""

    scenarios: tuple[str, ...]
    """Scenarios that it is trained for, a part of SCENARIOS."""
    prefix_form: str
    """INPUT: vectors before those of the tokens. KEYS: keys and values before those of each layer."""
    prefix_sharing: str
    """PERTURBED: one prefix, in an order of its own for each scenario. SHARED: one, in one order. SEPARATE:
    one for each scenario."""
    prefix_length: int
    """Vectors of the prefix; 0 for none."""
    pooling: str
    """FIRST: the first token's vector. MEAN: the mean over all tokens."""
    dropout: float
    """Dropout of the estimator while training."""
    max_length: int
    """The most tokens of all texts together."""

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Read it from the settings on a model's card. Raises MissingWeights."""
        try:
            return cls(**{**settings, "scenarios": tuple(settings["scenarios"])})
        except (KeyError, TypeError) as error:
            raise MissingWeights(f"The model's card does not describe a UMSE network: {error}") from error


class UmseNetwork(nn.Module):
    """Texts as ids, and the number of their scenario, to two logits; the second is of texts that match."""

    def __init__(self, encoder: Any, shape: Shape) -> None:
        super().__init__()
        self.encoder = encoder
        self.shape = shape
        config = encoder.config
        sets = len(shape.scenarios) if shape.prefix_sharing == SEPARATE else 1
        width = config.hidden_size
        if shape.prefix_form == KEYS:
            rows = torch.randn(sets, shape.prefix_length, config.num_hidden_layers * 2 * width)
        else:
            # Vectors of random words, since the encoder has learnt to read such vectors.
            words = encoder.get_input_embeddings().weight.detach()
            rows = words[torch.randint(len(words), (sets, shape.prefix_length))].clone()
        self.prefix = nn.Parameter(rows)
        self.orders: Tensor
        self.register_buffer("orders", _orders(shape), persistent=False)
        steps: list[nn.Module] = []
        for size in WIDTHS:
            steps += [nn.Linear(width, size * config.hidden_size), nn.Tanh(), nn.Dropout(shape.dropout)]
            width = size * config.hidden_size
        self.estimator = nn.Sequential(*steps, nn.Linear(width, CLASSES))

    @classmethod
    def start(cls, folder: Path, shape: Shape, **config_changes: Any) -> Self:
        """Return an untrained network around the encoder in `folder`. Raises MissingWeights."""
        config = load_config(folder)
        if config.is_encoder_decoder:
            raise MissingWeights(f"The model in {folder} is not an encoder alone; choose BERT or RoBERTa.")
        if shape.prefix_form == KEYS and config.model_type not in KINDS:
            raise MissingWeights(
                f"An encoder of type {config.model_type} takes no prefix of keys; choose one of "
                f"{', '.join(KINDS)}, or a prefix in the input."
            )
        options = {**_without_pooler(config), **config_changes}
        network = cls(load_model(folder, may_lack=("pooler.",), **options), shape)
        if network.room < FEWEST_TOKENS:
            raise MissingWeights(
                f"The encoder has positions for {position_limit(config)} tokens, too few for a prefix of "
                f"{shape.prefix_length} and texts. Choose a shorter prefix."
            )
        return network

    @classmethod
    def load(cls, folder: Path, shape: Shape) -> Self:
        """Load a trained network and the encoder's configuration, for scoring. Raises MissingWeights."""
        config = load_config(folder)
        encoder: Any = transformers.AutoModel.from_config(config, **_without_pooler(config))
        network = cls(encoder, shape)
        fill(network, load_tensors(folder), folder)
        return network.eval()

    @property
    def room(self) -> int:
        """Return the most tokens of all texts together: the setting's, or fewer if positions allow fewer."""
        return min(self.shape.max_length, position_limit(self.encoder.config) - self.shape.prefix_length)

    def forward(self, ids: Tensor, mask: Tensor, scenarios: Tensor) -> Tensor:
        """Return logits [texts, 2] of `ids` and `mask` [texts, tokens] and `scenarios` [texts].

        Scenarios are numbers in the shape's list.
        """
        length = self.shape.prefix_length
        prefix = self._prefix(scenarios)
        seen = torch.cat([mask.new_ones(len(mask), length), mask], dim=1)
        if not length:
            states = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        elif self.shape.prefix_form == KEYS:
            past = self._as_past(prefix)
            output = self.encoder(input_ids=ids, attention_mask=seen, past_key_values=past)
            states = output.last_hidden_state
        else:
            words = self.encoder.get_input_embeddings()(ids)
            vectors = torch.cat([prefix, words], dim=1)
            output = self.encoder(inputs_embeds=vectors, attention_mask=seen)
            states = output.last_hidden_state[:, length:]
        logits: Tensor = self.estimator(self._pooled(states.float(), mask))
        return logits

    def _prefix(self, scenarios: Tensor) -> Tensor:
        """Return the prefix of each text [texts, rows, numbers], in its scenario's order."""
        number = scenarios if self.shape.prefix_sharing == SEPARATE else torch.zeros_like(scenarios)
        rows: Tensor = self.prefix[number[:, None], self.orders[scenarios]].to(self.encoder.dtype)
        return rows

    def _as_past(self, prefix: Tensor) -> DynamicCache:
        config = self.encoder.config
        past = DynamicCache()
        by_layer = prefix.unflatten(2, (config.num_hidden_layers, 2, config.num_attention_heads, -1))
        for number, (keys, values) in enumerate(by_layer.permute(2, 3, 0, 4, 1, 5)):
            past.update(keys, values, number)
        return past

    def _pooled(self, states: Tensor, mask: Tensor) -> Tensor:
        if self.shape.pooling == FIRST:
            return states[:, 0]
        counted = mask[:, :, None].to(states.dtype)
        return (states * counted).sum(dim=1) / counted.sum(dim=1)


def _orders(shape: Shape) -> Tensor:
    """Return the order of the prefix's rows for each scenario [scenarios, rows].

    By the paper, sum_doc keeps the order, sum_ref reverses it, and sum_doc_ref takes the odd places first.
    """
    kept = torch.arange(shape.prefix_length)
    orders = {"sum_doc": kept, "sum_ref": kept.flip(0), "sum_doc_ref": torch.cat([kept[1::2], kept[::2]])}
    perturbed = shape.prefix_sharing == PERTURBED
    return torch.stack([orders[each] if perturbed else kept for each in shape.scenarios])


def _without_pooler(config: Any) -> Mapping[str, bool]:
    """Return options that leave out the pooler, for kinds that have one."""
    return {"add_pooling_layer": False} if config.model_type in KINDS else {}
