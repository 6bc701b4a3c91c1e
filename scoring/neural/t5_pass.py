"""The forward pass of T5 and mT5, written for short answers to long inputs.

Gives the same numbers as transformers, to rounding. Texts of unequal length lie end to end without padding;
query, key and value are one product; the gain of each norm is multiplied into the next matrix; keys and
values of the encoder's states are never computed.

Source: Raffel et al. 2020 (T5), Xue et al. 2021 (mT5).
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import torch
import transformers
from torch.nn.functional import linear, rms_norm
from torch.nn.utils.rnn import pad_sequence

from scoring.neural.checkpoint import Checkpoint
from scoring.neural.device import device
from scoring.neural.finiteness import TextWatch, whole
from scoring.neural.loading import load_config
from scoring.neural.t5_layers import CrossAttention, FeedForward, Memory, PositionBias, SelfAttention
from scoring.weights.model_files import MissingWeights

EMBEDDINGS = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
"""Names of one matrix; a file needs only one of them, since programs omit different copies."""
OUTPUT = "lm_head.weight"
NEVER_USED = ("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",)
"""Part of the first published T5 models, which no program reads."""


class T5Pass:
    """Encoder and decoder of a folder's T5 or mT5. Raises MissingWeights for anything else."""

    def __init__(self, folder: Path, precision: str = "float32") -> None:
        self.config = load_config(folder)
        if self.config.model_type not in ("t5", "mt5"):
            raise MissingWeights(
                f"The model in {folder} is of the kind {self.config.model_type!r}, no T5 or mT5."
            )
        tensors = Checkpoint(folder, precision)
        with torch.device("meta"):  # names and shapes alone
            model = transformers.AutoModelForSeq2SeqLM.from_config(self.config)
        tensors.refuse_unfit(model, NEVER_USED)
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
        scale = self.config.d_model**-0.5 if _scales(folder, tied=tied) else 1.0
        self._gain = tensors.placed(tensors.raw("decoder.final_layer_norm.weight") * scale)

    def encode(self, inputs: Sequence[Sequence[int]]) -> Memory:
        """Return the encoder's states of inputs of ids, none of them empty."""
        lengths = [len(each) for each in inputs]
        bias = self._encoder_bias(max(lengths))
        hidden = self._embedding[torch.tensor([token for each in inputs for token in each], device=device())]
        watch = TextWatch(lengths)
        for attend, transform in self._encoder:
            hidden += attend(self._normed(hidden, watch), lengths, bias, watch)
            hidden += transform(self._normed(hidden, watch), watch)
        states = watch.marked(self._normed(hidden, watch)).split(lengths)
        closed = [each.new_zeros(len(each)) for each in states]
        return Memory(
            pad_sequence(states, batch_first=True),
            pad_sequence(closed, batch_first=True, padding_value=-math.inf)[:, None],
        )

    def decode(self, memory: Memory, ids: torch.Tensor) -> torch.Tensor:
        """Return the decoder's last states [inputs, steps, width] after each of the `ids` [inputs, steps]."""
        inputs, steps = ids.shape
        bias = self._decoder_bias(steps)
        lengths = [steps] * inputs
        hidden = self._embedding[ids.flatten()]
        watch = TextWatch(lengths)
        for attend, look_up, transform in self._decoder:
            hidden += attend(self._normed(hidden, watch), lengths, bias, watch)
            by_input = self._normed(hidden, watch).view(inputs, steps, -1)
            hidden += look_up(by_input, memory, watch).flatten(0, 1)
            hidden += transform(self._normed(hidden, watch), watch)
        return watch.marked(self._normed(hidden, watch)).view(inputs, steps, -1) * self._gain

    def logits(self, states: torch.Tensor, wanted: Sequence[int] | None = None) -> torch.Tensor:
        """Return float32 logits [..., wanted] for the decoder's last states; all without `wanted`."""
        return whole(linear(states, self._output if wanted is None else self._output[list(wanted)]).float())

    def _normed(self, hidden: torch.Tensor, watch: TextWatch) -> torch.Tensor:
        watch.see(hidden)
        return rms_norm(hidden, hidden.shape[-1:], eps=self.config.layer_norm_epsilon)


def _scales(folder: Path, *, tied: bool) -> bool:
    """Return whether the last states are scaled by width**-0.5; `tied` if output and input matrix are equal.

    Read from the file, since version 5 of transformers sets `tie_word_embeddings` in memory whatever the file
    says, and states separately, in `scale_decoder_outputs`, whether a T5 scales; its mT5 never does. Before
    that version a model scaled if and only if it was tied. Raises MissingWeights for two different matrices
    and a file that has them tied: earlier versions then ignore the output matrix, and version 5 uses it.
    """
    stated = json.loads((folder / "config.json").read_text())
    if "scale_decoder_outputs" in stated:
        return bool(stated["scale_decoder_outputs"])
    ties = stated.get("tie_word_embeddings")
    is_mt5 = stated.get("model_type") == "mt5"
    by_version_5 = int(str(stated.get("transformers_version", "0")).partition(".")[0]) >= 5
    if ties is False or (is_mt5 and by_version_5):
        return False
    if tied:
        return True
    if is_mt5 and ties is None:  # its matrices were untied by default
        return False
    raise MissingWeights(
        f"The files in {folder} have an output matrix of their own ({OUTPUT}), but by config.json it is tied "
        "to the embeddings, and versions of transformers differ in which they use. If it is the model's, set "
        "tie_word_embeddings to false in config.json; otherwise remove it from the files."
    )
