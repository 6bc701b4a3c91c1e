"""CTC's three aligners: how well each token of one text is grounded in another."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum, nan
from pathlib import Path
from typing import Any, ClassVar, Protocol

import torch
from tokenizers import Encoding
from torch.nn.functional import normalize

from scoring.contract.scores import OUT_OF_MEMORY, share_of
from scoring.neural.batching import in_batches, padded
from scoring.neural.device import device
from scoring.neural.encoder import Encoder, position_limit
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


NO_TOKENS = "a text without any token"
ONLY_STOP_WORDS = "stop words only"
WORDS_DISAGREE = "words and word pieces do not agree, as after a line break"
BYTE_SPACE, PIECE_SPACE = "Ġ", "▁"
"""Marks of pieces that begin a word: of byte-level BPE, and of SentencePiece."""
_GROUNDED = 0
_STRAIGHT = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'"})
_JOINED = (
    *((f" {mark}", mark) for mark in ".?!,"),
    (" ' ", "'"),
    *((f" {ending}", ending) for ending in ("n't", "'m", "'s", "'ve", "'re")),
)
"""Joined, in this order, by the library's decoder when the models were trained."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """A text's grounding in its context: a number, or nan and a reason; shares read."""

    value: float
    reason: str = ""
    text_read: float = 1.0
    context_read: float = 1.0


class Aligner(Protocol):
    def align(self, pairs: Sequence[tuple[str, str]]) -> list[Aligned]:
        """Return one result for each (text, context), in their order; neither may be blank."""


class EmbeddingAligner:
    """E: a token's score is its largest cosine to a token of the context, in [-1, 1].

    Each text is encoded alone, cut to the encoder's limit. Special tokens and tokens in `left_out` do not
    count.
    """

    def __init__(self, folder: Path, precision: str, layer: int, left_out: Collection[str] = ()) -> None:
        self._encoder = Encoder(folder, precision, depth=layer)
        self._layer = layer
        self._left_out = _ids_of(left_out, self._encoder.tokens)
        self._lead = " " if self._encoder.tokens.heeds_spaces else ""

    def align(self, pairs: Sequence[tuple[str, str]]) -> list[Aligned]:
        texts = list(dict.fromkeys(chain.from_iterable(pairs)))
        tokens = self._encoder.tokens
        whole = tokens.whole([self._lead + text.strip() for text in texts], self._encoder.limit)
        inner = slice(len(tokens.opening), -len(tokens.closing) or None)
        states = self._encoder.states([each.ids for each in whole], [self._layer])
        known = {
            text: (
                each.ids[inner],
                None if found is None else normalize(found[0, inner].float(), dim=-1),
                each.share_read,
            )
            for text, each, found in zip(texts, whole, states, strict=True)
        }
        return [self._aligned(known[text], known[context]) for text, context in pairs]

    def _aligned(
        self,
        text: tuple[Sequence[int], torch.Tensor | None, float],
        context: tuple[Sequence[int], torch.Tensor | None, float],
    ) -> Aligned:
        (ids, vectors, text_read), (_, others, context_read) = text, context
        if vectors is None or others is None:
            return Aligned(nan, OUT_OF_MEMORY)
        if not len(vectors) or not len(others):
            return Aligned(nan, NO_TOKENS)
        nearest = (vectors @ others.T).max(dim=1).values.tolist()
        counted = [score for each, score in zip(ids, nearest, strict=True) if each not in self._left_out]
        return _mean(counted, text_read, context_read)


class DiscriminativeAligner(PairModel):
    """D: a word's score is the probability, in [0, 1], that the context has what it says.

    Both texts are cleaned and case-folded. The first 256 ids of the text are read, with as much of the
    context as fits into 512. A word's features are the sum of those of its pieces.
    """

    head, outputs, cut = "classifier.safetensors", 2, "only_second"

    def __init__(self, folder: Path, precision: str, left_out: Collection[str] = ()) -> None:
        super().__init__(folder, precision, may_lack=("pooler.",))
        self._left_out = left_out
        self._mark = _space_mark(self.tokens)
        if not self._mark:
            raise MissingWeights(
                f"The tokenizer in {folder} does not mark where words begin, so words cannot be scored."
            )

    def features(self, pairs: Sequence[TypedPair]) -> Sequence[torch.Tensor]:
        return self.states(pairs, [pair.places for pair in pairs])

    def align(self, pairs: Sequence[tuple[str, str]]) -> list[Aligned]:
        prepared = {text: self._prepared(text) for text in dict.fromkeys(text for text, _ in pairs)}
        told = [(prepared[text].text, cleaned(context)) for text, context in pairs if prepared[text].pieces]
        read = iter(self.read(told) if told else ())
        return [
            self._aligned(prepared[text], next(read))
            if prepared[text].pieces
            else Aligned(nan, WORDS_DISAGREE)
            for text, _ in pairs
        ]

    def _aligned(self, prepared: "_Prepared", read: PairReading) -> Aligned:
        if read.products is None:
            return Aligned(nan, OUT_OF_MEMORY)
        words = read.products.split(prepared.pieces)
        logits = torch.stack([pieces.sum(dim=0) for pieces in words]) + self.bias
        grounded = logits.softmax(dim=-1)[:, _GROUNDED].tolist()
        scored = zip(prepared.text.split(), grounded, strict=True)
        counted = [score for word, score in scored if word.lower() not in self._left_out]
        return _mean(counted, prepared.share_read, read.second_read)

    def _prepared(self, text: str) -> "_Prepared":
        """Return the text cut and decoded again, joined as decoding did when the models were trained."""
        tokenizer = self.tokens.tokenizer
        [ids] = self.tokens.pieces([cleaned(text)])
        kept = ids[: self.limit // 2 - len(self.tokens.opening)]
        decoded = str(tokenizer.decode(list(kept), clean_up_tokenization_spaces=False))
        for apart, joined in _JOINED:
            decoded = decoded.replace(apart, joined)
        for special in (tokenizer.bos_token, tokenizer.eos_token, tokenizer.unk_token):
            decoded = decoded.replace(special or "\0", "")
        decoded = decoded.replace("  ", " ").strip(" ")
        pieces = self._pieces_of_words(decoded)
        agree = len(pieces) == len(decoded.split())
        return _Prepared(decoded, pieces if agree else [], share_of(len(kept), len(ids)))

    def _pieces_of_words(self, text: str) -> list[int]:
        """Return how many pieces each word has; a word begins at each marked piece."""
        [ids] = self.tokens.pieces([text])
        counts: list[int] = []
        for piece in self.tokens.tokenizer.convert_ids_to_tokens(list(ids)):
            if not counts or piece.startswith(self._mark):
                counts.append(0)
            counts[-1] += 1
        return counts


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A text as the discriminative aligner reads it."""

    text: str
    pieces: list[int]
    """Pieces of each word; empty if words and pieces disagree."""
    share_read: float


class RegressionAligner(PairModel):
    """R: one unbounded number for the text, as in BLEURT; the context comes first in the input.

    If both together exceed 512 ids, the longer is cut.
    """

    head, outputs, cut = "dense.safetensors", 1, "longest_first"

    def __init__(self, folder: Path, precision: str) -> None:
        super().__init__(folder, precision)
        if not self.is_bert:
            raise MissingWeights(f"The model in {folder} is no BERT or RoBERTa, which aligner R needs.")

    def features(self, pairs: Sequence[TypedPair]) -> Sequence[torch.Tensor]:
        return [self.model.pooler(first[None]) for first in self.states(pairs, [[0]] * len(pairs))]

    def align(self, pairs: Sequence[tuple[str, str]]) -> list[Aligned]:
        read = self.read([(context, text) for text, context in pairs])
        return [
            Aligned(nan, OUT_OF_MEMORY)
            if each.products is None
            else Aligned((each.products[0] + self.bias).item(), "", each.second_read, each.first_read)
            for each in read
        ]


def cleaned(text: str) -> str:
    """Return the text with straight quotes, single spaces and folded case, trimmed; line breaks stay."""
    return re.sub(" +", " ", text.translate(_STRAIGHT)).casefold().strip()


def _space_mark(tokens: TextTokenizer) -> str:
    """Return the tokenizer's mark of pieces that begin a word, or an empty text."""
    [ids] = tokens.pieces(["a a"])
    later = tokens.tokenizer.convert_ids_to_tokens(list(ids))[1:]
    return next((piece[0] for piece in later if piece[0] in (BYTE_SPACE, PIECE_SPACE)), "")


def _ids_of(words: Collection[str], tokens: TextTokenizer) -> frozenset[int]:
    """Return the ids of the pieces that are one of `words`."""
    if not words:
        return frozenset()
    return frozenset(index for index, piece in enumerate(tokens.vocabulary) if piece in words)


def _mean(counted: Sequence[float], text_read: float, context_read: float) -> Aligned:
    if not counted:
        return Aligned(nan, ONLY_STOP_WORDS)
    return Aligned(fsum(counted) / len(counted), "", text_read, context_read)
