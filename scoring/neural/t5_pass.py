"""The forward pass of T5 and mT5, written for short answers to long inputs.

The same numbers as the modules of transformers give, to rounding. What is different: texts of unequal length
lie end to end without padding; query, key and value are one product; the gain of each norm is part of the
matrix behind it; keys and values of the encoder's states are never formed.

Source: Raffel et al. 2020 (T5), Xue et al. 2021 (mT5).
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import linear, rms_norm
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoConfig

from scoring.neural.checkpoint import Checkpoint
from scoring.neural.device import device
from scoring.neural.t5_layers import CrossAttention, FeedForward, Memory, PositionBias, SelfAttention
from scoring.weights import MissingWeights

EMBEDDINGS = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
"""Names of one matrix, of which a file need have but one: programs differ in which copy they leave out."""
OUTPUT = "lm_head.weight"


class T5Pass:
    """Encoder and decoder of a folder's T5 or mT5. Raises MissingWeights for anything else."""

    def __init__(self, folder: Path, precision: str = "float32") -> None:
        self.config = _config(folder)
        with Checkpoint(folder, precision) as tensors:
            self._encoder = [
                (
                    SelfAttention(self.config, tensors, f"encoder.block.{index}.layer.0"),
                    FeedForward(self.config, tensors, f"encoder.block.{index}.layer.1"),
                )
                for index in range(self.config.num_layers)
            ]
            self._decoder = [
                (
                    SelfAttention(self.config, tensors, f"decoder.block.{index}.layer.0"),
                    CrossAttention(self.config, tensors, f"decoder.block.{index}.layer.1"),
                    FeedForward(self.config, tensors, f"decoder.block.{index}.layer.2"),
                )
                for index in range(self.config.num_decoder_layers)
            ]
            self._encoder_bias = PositionBias(self.config, tensors, "encoder")
            self._decoder_bias = PositionBias(self.config, tensors, "decoder")
            embedding = next((name for name in EMBEDDINGS if name in tensors), EMBEDDINGS[0])
            self._embedding = tensors[embedding]
            tied = OUTPUT not in tensors or tensors.raw(OUTPUT).equal(tensors.raw(embedding))
            self._output = self._embedding if tied else tensors[OUTPUT]
            scale = self.config.d_model**-0.5 if tied and _scales_when_tied(folder) else 1.0
            self._gain = tensors.placed(tensors.raw("decoder.final_layer_norm.weight") * scale)

    def encode(self, inputs: Sequence[Sequence[int]]) -> Memory:
        """The encoder's states of inputs of ids, none of them empty."""
        lengths = [len(each) for each in inputs]
        bias = self._encoder_bias(max(lengths))
        hidden = self._embedding[torch.tensor([token for each in inputs for token in each], device=device())]
        for attend, transform in self._encoder:
            hidden += attend(self._normed(hidden), lengths, bias)
            hidden += transform(self._normed(hidden))
        states = self._normed(hidden).split(lengths)
        closed = [each.new_zeros(len(each)) for each in states]
        return Memory(
            pad_sequence(states, batch_first=True),
            pad_sequence(closed, batch_first=True, padding_value=-math.inf)[:, None],
        )

    def decode(self, memory: Memory, ids: torch.Tensor) -> torch.Tensor:
        """The decoder's last states [inputs, steps, width] after each of the `ids` [inputs, steps]."""
        inputs, steps = ids.shape
        bias = self._decoder_bias(steps)
        hidden = self._embedding[ids]
        for attend, look_up, transform in self._decoder:
            own = attend(self._normed(hidden).flatten(0, 1), [steps] * inputs, bias)
            hidden += own.view_as(hidden)
            hidden += look_up(self._normed(hidden), memory)
            hidden += transform(self._normed(hidden))
        return self._normed(hidden) * self._gain

    def logits(self, states: torch.Tensor, wanted: Sequence[int] | None = None) -> torch.Tensor:
        """Float32 [..., wanted] for the decoder's last states; of the whole vocabulary without `wanted`."""
        return linear(states, self._output if wanted is None else self._output[list(wanted)]).float()

    def _normed(self, hidden: torch.Tensor) -> torch.Tensor:
        return rms_norm(hidden, hidden.shape[-1:], eps=self.config.layer_norm_epsilon)


def _config(folder: Path) -> Any:
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise MissingWeights(f"The configuration in {folder} cannot be read: {error}") from error
    if config.model_type not in ("t5", "mt5"):
        raise MissingWeights(f"The model in {folder} is of the kind {config.model_type!r}, no T5 or mT5.")
    return config


def _scales_when_tied(folder: Path) -> bool:
    """Whether the decoder's last states are scaled by width**-0.5, where the output matrix is the input's.

    Read from the file, since version 5 of transformers sets `tie_word_embeddings` in memory whatever the file
    says, and states apart, in `scale_decoder_outputs`, whether a T5 scales; its mT5 never does. Before that
    version a model scaled where it was tied, and only there.
    """
    stated = json.loads((folder / "config.json").read_text())
    if "scale_decoder_outputs" in stated:
        return bool(stated["scale_decoder_outputs"])
    if stated.get("tie_word_embeddings") is False:
        return False
    written_by = str(stated.get("transformers_version", "0")).partition(".")[0]
    return stated.get("model_type") != "mt5" or int(written_by) < 5
