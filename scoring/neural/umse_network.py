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
from scoring.neural.encoder_pass import COUNTING_FROM_PADDING, KINDS
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
VERSION = 2
"""Version of the form in which a network reads texts; those of another version are refused."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The settings that a network is built from beside its encoder."""

    scenarios: tuple[str, ...]
    """Scenarios that it is trained for, a part of SCENARIOS."""
    prefix_form: str
    """INPUT: vectors after that of the first token. KEYS: keys and values before those of each layer."""
    prefix_sharing: str
    """PERTURBED: one prefix, in an order of its own for each scenario. SHARED: one, in one order. SEPARATE:
    one for each scenario."""
    prefix_length: int
    """Vectors of the prefix; 0 for none."""
    pooling: str
    """FIRST: the first token's vector. MEAN: the mean over all tokens, without the prefix."""
    dropout: float
    """Dropout of the estimator while training."""
    max_length: int
    """The most tokens of all texts together."""
    version: int = VERSION

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Read it from the settings on a model's card. Raises MissingWeights."""
        if settings.get("version") != VERSION:
            raise MissingWeights(
                f"The model reads texts in form {settings.get('version', 1)}, but this Touchstone in form "
                f"{VERSION}. Train it again."
            )
        try:
            return cls(**{**settings, "scenarios": tuple(settings["scenarios"])})
        except (KeyError, TypeError) as error:
            raise MissingWeights(f"The model's card does not describe a UMSE network: {error}") from error


class UmseNetwork(nn.Module):
    """Texts as ids, and the number of their scenario, to two logits; the second is of texts that match.

    The input is that of the paper, [CLS] P X [SEP] Y, with the encoder's own marks: </s></s> between texts
    for a RoBERTa. Encoders with types of tokens, such as BERT, get that of the first text for summary and
    prefix, and that of the second for the others. Source: Gao et al. 2023, section 3.3.
    """

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

    def forward(self, ids: Tensor, mask: Tensor, numbers: Tensor, scenarios: Tensor) -> Tensor:
        """Return logits [texts, 2] of `ids`, `mask` and `numbers` [texts, tokens] and `scenarios` [texts].

        `numbers` are those of the text that each token belongs to, from 0; scenarios are numbers in the
        shape's list.
        """
        length = self.shape.prefix_length
        prefix = self._prefix(scenarios)
        seen = torch.cat([mask.new_ones(len(mask), length), mask], dim=1)
        if not length:
            states = self._states(numbers, input_ids=ids, attention_mask=mask)
        elif self.shape.prefix_form == KEYS:
            past = self._as_past(prefix)
            states = self._states(numbers, input_ids=ids, attention_mask=seen, past_key_values=past)
        else:
            words = self.encoder.get_input_embeddings()(ids)
            vectors = torch.cat([words[:, :1], prefix, words[:, 1:]], dim=1)
            with_prefix = torch.cat([numbers.new_zeros(len(numbers), length), numbers], dim=1)
            states = self._states(with_prefix, inputs_embeds=vectors, attention_mask=seen)
            states = torch.cat([states[:, :1], states[:, 1 + length :]], dim=1)
        logits: Tensor = self.estimator(self._pooled(states.float(), mask))
        return logits

    def _states(self, numbers: Tensor, **inputs: Any) -> Tensor:
        """Return the encoder's last states, with types of tokens if its family uses them."""
        config = self.encoder.config
        types = 1 if config.model_type in COUNTING_FROM_PADDING else getattr(config, "type_vocab_size", 1)
        if types > 1:
            inputs["token_type_ids"] = numbers.clamp(max=types - 1)
        states: Tensor = self.encoder(**inputs).last_hidden_state
        return states

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

    By the paper, sum_doc keeps the order and sum_doc_ref takes the odd places first: p1, p3, ..., p2, p4, ...
    The released code takes the even ones first. That sum_ref reverses the order is from the code, too.
    """
    kept = torch.arange(shape.prefix_length)
    orders = {"sum_doc": kept, "sum_ref": kept.flip(0), "sum_doc_ref": torch.cat([kept[::2], kept[1::2]])}
    perturbed = shape.prefix_sharing == PERTURBED
    return torch.stack([orders[each] if perturbed else kept for each in shape.scenarios])


def _without_pooler(config: Any) -> Mapping[str, bool]:
    """Return options that leave out the pooler, for kinds that have one."""
    return {"add_pooling_layer": False} if config.model_type in KINDS else {}
