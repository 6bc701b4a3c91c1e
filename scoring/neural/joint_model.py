"""A model in the layout of UniTE's and UMSE's authors: encoder, mix of layers, estimator."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from scoring.neural.device import DTYPES, device
from scoring.neural.encoder_pass import COUNTING_FROM_PADDING
from scoring.neural.finiteness import ModelWatch
from scoring.neural.joint_encoder import JointEncoder
from scoring.neural.joint_inputs import Group, JointInputs, JointOutput
from scoring.neural.layer_mix import LayerMix, LayerSums
from scoring.neural.loading import fill, load_config, load_tensors, refuse_unused
from scoring.weights.model_files import MissingWeights

FIXED: Mapping[str, object] = {
    "combine_inputs": True,
    "layer": "mix",
    "layerwise_attention_layer_norm": True,
    "multiple_segment_embedding": False,
    "pool": "cls",
    "prefix_projection": False,
    "bos_for_segments": ["<s>", "</s>", "</s>"],
    "eos_for_segments": ["</s>", "</s>", "</s>"],
}
"""Settings that must have this value; a file with another value is refused."""
FEWEST_TOKENS = 6
"""Special tokens around three texts."""
ENCODER = "encoder.model."
PREFIX = "encoder.prefix_encoder.embedding.weight"
MIX = "layerwise_attention."
SHARE = f"{MIX}scalar_parameters."
ESTIMATOR = "estimator.ff."
UNREAD = (f"{MIX}dropout_", f"{ENCODER}pooler.")
"""The beginnings of names that play no part; a fill of -1e20 is infinite in a copy in float16."""


class JointModel:
    """A folder with model.safetensors in the authors' names, and the encoder's config.json and tokenizer.

    `settings_name` is an optional file of training settings; `joint_limit` applies if it states no limit.
    `outputs` is the number of the estimator's outputs. Raises MissingWeights if the folder does not fit.
    """

    def __init__(
        self,
        folder: Path,
        precision: str,
        *,
        settings_name: str,
        joint_limit: int,
        outputs: int,
        with_prefix: bool = False,
        regional: bool = False,
        restart: bool = False,
    ) -> None:
        settings = _settings(folder / settings_name)
        tensors = load_tensors(folder, unread=UNREAD)
        model = _encoder(folder, tensors, precision)
        prefix = _prefix(folder, tensors, model.config) if with_prefix else None
        if not with_prefix and PREFIX in tensors:
            raise MissingWeights(f"The model in {folder} has a prefix, which UMSE's have: it is no UniTE.")
        self._encoder = JointEncoder(model, prefix, regional=regional, restart=restart)
        text_limit = settings.get("max_text_length", model.config.max_position_embeddings - 2)
        most = min(settings.get("max_concat_length", joint_limit), self._encoder.room)
        if most < FEWEST_TOKENS:
            raise MissingWeights(f"The encoder in {folder} has positions for {most} tokens only.")
        self.inputs = JointInputs(folder, text_limit, most)
        layers = model.config.num_hidden_layers + 1
        try:
            self._mix = LayerMix.of(_part(tensors, MIX), layers)
        except KeyError as error:
            raise MissingWeights(f"The weights in {folder} lack {MIX}{error.args[0]}.") from error
        shares = {f"{SHARE}{layer}" for layer in range(layers)}
        refuse_unused([name for name in tensors if name.startswith(SHARE) and name not in shares], folder)
        self._estimator = _estimator(folder, _part(tensors, ESTIMATOR), settings, outputs)
        self._watched = ModelWatch(self._estimator)

    @torch.inference_mode()
    def read(self, groups: Sequence[Group]) -> list[list[JointOutput | None]]:
        """Return the model's output for each tuple of texts; None for a group that ran out of memory.

        The layers are normalised over all sequences of a group together, so an output depends on the others
        of its group, and on nothing else.
        """
        sequences, shares = self.inputs.of([texts for _, group in groups for texts in group])
        sums = iter(self._encoder.sums(sequences))
        vectors = [self._mixed([next(sums) for _ in group]) for _, group in groups]
        known = [each for each in vectors if each is not None]
        outputs = iter(self._estimated(torch.cat(known)).tolist() if known else ())
        answers = [
            None if vector is None else tuple(next(outputs))
            for vector, (_, group) in zip(vectors, groups, strict=True)
            for _ in group
        ]
        readings = iter(
            None if answer is None else JointOutput(answer, share)
            for answer, share in zip(answers, shares, strict=True)
        )
        return [[next(readings) for _ in group] for _, group in groups]

    def _estimated(self, vectors: Tensor) -> Tensor:
        one = torch.ones(len(vectors), 1, device=vectors.device)
        found, marks = self._watched.run(one, lambda: self._estimator(vectors))
        return found + marks[:, None]

    def _mixed(self, sums: Sequence[LayerSums | None]) -> Tensor | None:
        whole = [each for each in sums if each is not None]
        return self._mix.vectors(whole) if len(whole) == len(sums) else None


def _part(tensors: Mapping[str, Tensor], beginning: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(beginning): each for name, each in tensors.items() if name.startswith(beginning)
    }


def _settings(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise MissingWeights(f"{path} is not JSON: {error}") from error
    for name, value in FIXED.items():
        if found.get(name, value) != value:
            raise MissingWeights(
                f"{path} says {name} is {json.dumps(found[name])}; only {json.dumps(value)} is understood."
            )
    return found


def _encoder(folder: Path, tensors: Mapping[str, Tensor], precision: str) -> Any:
    config = load_config(folder)
    if config.model_type not in COUNTING_FROM_PADDING:
        raise MissingWeights(
            f"The encoder in {folder} is of type {config.model_type}, "
            f"not one of {', '.join(COUNTING_FROM_PADDING)}."
        )
    model: Any = transformers.AutoModel.from_config(config, add_pooling_layer=False)
    # Older versions of the library stored a list of positions, and a pooler plays no part here.
    own = {
        name: each
        for name, each in _part(tensors, ENCODER).items()
        if not name.startswith("pooler.") and name != "embeddings.position_ids"
    }
    fill(model, own, folder)
    return model.to(DTYPES[precision])


def _prefix(folder: Path, tensors: Mapping[str, Tensor], config: transformers.PretrainedConfig) -> Tensor:
    """Return the prefix [layers, keys and values, rows, dimensions]."""
    if PREFIX not in tensors:
        raise MissingWeights(f"The weights in {folder} lack {PREFIX}. Is it a UMSE model?")
    layers, width = config.num_hidden_layers, config.hidden_size
    rows = tensors[PREFIX]
    if rows.dim() != 2 or rows.shape[1] != layers * 2 * width:
        raise MissingWeights(
            f"{PREFIX} in {folder} has the shape {list(rows.shape)}, which does not fit the encoder."
        )
    return rows.view(len(rows), layers, 2, width).permute(1, 2, 0, 3).contiguous()


def _estimator(
    folder: Path, tensors: Mapping[str, Tensor], settings: Mapping[str, Any], outputs: int
) -> nn.Sequential:
    """Build linear layers with an activation after each but the last.

    Dropout layers leave gaps in the numbers of names.
    """
    numbers = sorted({int(found[1]) for name in tensors if (found := re.match(r"(\d+)\.", name))})
    steps: list[nn.Module] = []
    for number in numbers:
        weight = tensors.get(f"{number}.weight")
        if weight is None or weight.dim() != 2:
            raise MissingWeights(f"The weights in {folder} have no matrix {ESTIMATOR}{number}.weight.")
        linear = nn.Linear(weight.shape[1], weight.shape[0])
        fill(linear, _part(tensors, f"{number}."), folder)
        steps += [linear, _activation(settings.get("activations", "Tanh"))]
    if not steps or steps[-2].out_features != outputs:
        raise MissingWeights(f"The estimator in {folder} does not end in {outputs} numbers.")
    last = settings.get("final_activation")
    steps[-1:] = [_activation(last)] if last else []
    return nn.Sequential(*steps).to(device()).eval()


def _activation(name: str) -> nn.Module:
    kind = getattr(nn, name, None)
    if not (isinstance(kind, type) and issubclass(kind, nn.Module)):
        raise MissingWeights(f"{name!r} is no activation of torch.nn.")
    return kind()
