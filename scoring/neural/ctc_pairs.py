"""CTC's models that read two texts together, with a linear layer on top."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from tokenizers import Encoding

from scoring.contract.scores import share_of
from scoring.neural.batching import in_batches, padded
from scoring.neural.device import device
from scoring.neural.encoder import position_limit
from scoring.neural.encoder_pass import EncoderPass
from scoring.neural.finiteness import ModelWatch, whole
from scoring.neural.loading import load_encoder, load_tensors
from scoring.neural.tokens import TextTokenizer
from scoring.weights.model_files import MissingWeights

LIMIT = 512
"""The most ids of an input, whatever its tokenizer states."""


@dataclass(frozen=True, slots=True)
class TypedPair:
    """The ids of two texts and the special ones around them, and the ids' types."""

    ids: list[int]
    types: list[int]
    places: list[int]
    """Positions of the first text's pieces."""
    second: int
    """Pieces of the second text."""


@dataclass(frozen=True, slots=True)
class PairReading:
    products: torch.Tensor | None
    """The linear layer's outputs [features, outputs] before its bias; None out of memory."""
    first_read: float
    second_read: float


class PairModel:
    """A model that reads two texts together, with a linear layer on top."""

    head: ClassVar[str]
    """The file with the layer's `weight` [outputs, dimensions] and `bias` [outputs]."""
    outputs: ClassVar[int]
    cut: ClassVar[str]
    """The text that is cut if both are too long, as tokenizers name it."""

    def __init__(self, folder: Path, precision: str, may_lack: tuple[str, ...] = ()) -> None:
        self.tokens = TextTokenizer(folder)
        self.model: Any = load_encoder(folder, precision, may_lack)
        self.limit = min(LIMIT, position_limit(self.model.config))
        tensors = load_tensors(folder, self.head)
        expected = {"weight": (self.outputs, self.model.config.hidden_size), "bias": (self.outputs,)}
        if {name: tuple(tensor.shape) for name, tensor in tensors.items()} != expected:
            raise MissingWeights(f"{folder / self.head} does not fit the model beside it; needed: {expected}")
        self._weight = tensors["weight"].float().to(device())
        self.bias = tensors["bias"].float()
        self._pass = EncoderPass.of(self.model)
        self._watched = ModelWatch(self.model)
        self._has_types = "token_type_ids" in self.tokens.tokenizer.model_input_names

    @property
    def is_bert(self) -> bool:
        """Return whether the model is built like BERT, with a pooler of the same kind."""
        return self._pass is not None

    @torch.inference_mode()
    def read(self, pairs: Sequence[tuple[str, str]]) -> list[PairReading]:
        """Return the model's output for each (first, second); equal pairs are computed once."""
        distinct = list(dict.fromkeys(pairs))
        encoded = self._encoded(distinct)

        def compute(batch: list[int]) -> list[torch.Tensor]:
            features = self.features([encoded[index] for index in batch])
            return [whole(each.float() @ self._weight.T).cpu() for each in features]

        products = in_batches([len(each.ids) for each in encoded], compute)
        pieces = [self.tokens.pieces(side) for side in zip(*distinct, strict=True)]
        found = {
            pair: PairReading(
                product, share_of(len(each.places), len(first)), share_of(each.second, len(second))
            )
            for pair, each, product, first, second in zip(distinct, encoded, products, *pieces, strict=True)
        }
        return [found[pair] for pair in pairs]

    def features(self, pairs: Sequence[TypedPair]) -> Sequence[torch.Tensor]:
        """Return the input of the linear layer [features, dimensions] for each pair."""
        raise NotImplementedError

    def states(self, pairs: Sequence[TypedPair], places: Sequence[Sequence[int]]) -> Sequence[torch.Tensor]:
        """Return the last layer's vectors [places, dimensions] at the given places of each pair."""
        ids = [pair.ids for pair in pairs]
        types = [pair.types for pair in pairs] if self._has_types else None
        if self._pass is not None:
            return self._pass.last_states(ids, places, types).split(list(map(len, places)))
        given, mask = padded(ids, self.tokens.padding)
        more = {} if types is None else {"token_type_ids": padded(types, 0)[0]}
        output, marks = self._watched.run(
            mask, lambda: self.model(input_ids=given, attention_mask=mask, **more)
        )
        states = output.last_hidden_state + marks[:, None, None].to(output.last_hidden_state.dtype)
        return [each[list(some)] for each, some in zip(states, places, strict=True)]

    def _encoded(self, pairs: Sequence[tuple[str, str]]) -> list[TypedPair]:
        firsts, seconds = zip(*pairs, strict=True)
        together = self.tokens.tokenizer(firsts, seconds, truncation=self.cut, max_length=self.limit)
        encodings = [
            # The authors' library treats an empty second text as absent.
            both if second else self.tokens.tokenizer([first], truncation=True, max_length=self.limit)[0]
            for both, (first, second) in zip(together.encodings, pairs, strict=True)
        ]
        return list(map(self._encoded_pair, encodings))

    def _encoded_pair(self, encoding: Encoding) -> TypedPair:
        """Return the texts' ids as `TextTokenizer` reads them, with the special ones around."""
        sides = encoding.sequence_ids
        ids = [
            own if side is None else inner
            for own, inner, side in zip(encoding.ids, self.tokens.as_text(encoding.ids), sides, strict=True)
        ]
        places = [place for place, side in enumerate(sides) if side == 0]
        return TypedPair(ids, encoding.type_ids, places, sides.count(1))
