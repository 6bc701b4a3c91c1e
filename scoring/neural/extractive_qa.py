"""Models that answer a question with a part of a text: where it may begin, and where it may end."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import transformers

from scoring.neural.batching import in_batches, padded
from scoring.neural.device import device
from scoring.neural.encoder import input_limit
from scoring.neural.loading import load_model
from scoring.neural.tokens import REMEMBERED_TEXTS, TextTokenizer


@dataclass(frozen=True, slots=True)
class Passage:
    """A text's ids, and the first and last character, exclusive, of each in the text."""

    text: str
    ids: tuple[int, ...]
    places: tuple[tuple[int, int], ...]

    def between(self, first: int, last: int) -> str:
        """The characters of the ids from `first` to `last`, inclusive; none where `last` comes before."""
        return self.text[self.places[first][0] : self.places[last][1]] if first <= last else ""


@dataclass(frozen=True, slots=True)
class Asked:
    """One input: question and a part of a text between special ids, the text from `start` on."""

    ids: tuple[int, ...]
    start: int
    length: int
    """Of the part of the text, in ids."""
    offset: int
    """Ids of the text before this part."""


class ExtractiveReader:
    """A folder's question answering model and its tokenizer.

    `two_segments` tells the model by token types what is question and what is text, where it has such types;
    else all is of the first type.
    """

    def __init__(self, folder: Path, precision: str = "float32", *, two_segments: bool = True) -> None:
        self.tokens = TextTokenizer(folder)
        self._model = load_model(folder, transformers.AutoModelForQuestionAnswering, precision)
        self._limit = input_limit(self._model.config, self.tokens)
        self._typed = two_segments and getattr(self._model.config, "type_vocab_size", 1) > 1
        self._between = self._pair_separator()
        self._passages: OrderedDict[str, Passage] = OrderedDict()

    @property
    def specials(self) -> int:
        """Special ids in an input."""
        return len(self.tokens.opening) + len(self._between) + len(self.tokens.closing)

    @property
    def room(self) -> int:
        """Ids that question and text may have together."""
        return self._limit - self.specials

    def passage(self, text: str) -> Passage:
        if text not in self._passages:
            encoded = self.tokens.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
            places = tuple((start, end) for start, end in encoded["offset_mapping"])
            self._passages[text] = Passage(text, self.tokens.as_text(encoded["input_ids"]), places)
            if len(self._passages) > REMEMBERED_TEXTS:
                self._passages.popitem(last=False)
        return self._passages[text]

    def asked(self, question: Sequence[int], text: Sequence[int], offset: int = 0) -> Asked:
        """The ids of a question before those of a part of a text, which have to fit."""
        before = (*self.tokens.opening, *question, *self._between)
        return Asked((*before, *text, *self.tokens.closing), len(before), len(text), offset)

    @torch.inference_mode()
    def logits(self, inputs: Sequence[Asked]) -> list[torch.Tensor | None]:
        """For each input [2, ids] of it as a whole, for the answer's begin and its end, float32 on the CPU.

        None for what ran out of memory. Equal inputs go through the model once.
        """
        distinct = list(dict.fromkeys(inputs))
        found = in_batches(
            [len(each.ids) for each in distinct],
            lambda batch: self._logits([distinct[index] for index in batch]),
        )
        by_input = dict(zip(distinct, found, strict=True))
        return [by_input[each] for each in inputs]

    def _logits(self, inputs: Sequence[Asked]) -> list[torch.Tensor]:
        ids, mask = padded([each.ids for each in inputs], self.tokens.padding)
        types = {}
        if self._typed:
            starts = torch.tensor([[each.start] for each in inputs])
            types["token_type_ids"] = (torch.arange(ids.shape[1]) >= starts).long().to(device())
        output = self._model(input_ids=ids, attention_mask=mask, **types)
        both = torch.stack([output.start_logits, output.end_logits], dim=1).float().cpu()
        return [logits[:, : len(each.ids)].clone() for logits, each in zip(both, inputs, strict=True)]

    def _pair_separator(self) -> tuple[int, ...]:
        """Special ids between two texts, as the tokenizer joins them."""
        pair = self.tokens.tokenizer("a", "a")["input_ids"]
        [single] = self.tokens.pieces(["a"])
        outer = len(self.tokens.opening) + len(self.tokens.closing)
        first = len(self.tokens.opening) + len(single)
        return tuple(pair[first : first + len(pair) - outer - 2 * len(single)])
