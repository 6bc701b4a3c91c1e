"""Texts as token ids: each distinct text is tokenised once, and cuts are counted."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from transformers import PreTrainedConfig

from scoring.contract.scores import share_of
from scoring.neural.loading import load_config, load_tokenizer
from scoring.weights.model_files import MissingWeights

REMEMBERED_TEXTS = 8192
NO_LIMIT = 1_000_000
"""Least limit that counts as none; tokenizers without a limit state one far above it."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """A model's input with special ids, and the share of the text's own ids that it has."""

    ids: tuple[int, ...]
    share_read: float

    def __len__(self) -> int:
        return len(self.ids)


class TextTokenizer:
    """A folder's tokenizer (see `load_tokenizer`) with a cache of recent texts.

    Raises MissingWeights, also if the model beside it has no embeddings for some ids.
    """

    def __init__(self, folder: Path, *, reads_specials: bool = False) -> None:
        self.tokenizer = load_tokenizer(folder, reads_specials=reads_specials)
        with_specials = self.tokenizer("a")["input_ids"]
        inner = self.tokenizer("a", add_special_tokens=False)["input_ids"]
        start = next(
            index for index in range(len(with_specials)) if with_specials[index : index + len(inner)] == inner
        )
        self.opening: tuple[int, ...] = tuple(with_specials[:start])
        self.closing: tuple[int, ...] = tuple(with_specials[start + len(inner) :])
        """Special ids before and after a single text."""
        self._refuse_ids_beyond(load_config(folder).get_text_config(), folder, reads_specials=reads_specials)
        self._unknown: int = self.tokenizer.unk_token_id
        self._forbidden = frozenset(() if reads_specials else self.tokenizer.all_special_ids) - {
            self._unknown
        }
        self._pieces: OrderedDict[str, tuple[int, ...]] = OrderedDict()

    def _refuse_ids_beyond(self, config: PreTrainedConfig, folder: Path, *, reads_specials: bool) -> None:
        """Raise MissingWeights for ids of texts that exceed the model's vocabulary.

        Special ids that no input has may exceed it, as with padding that was added for training.
        """
        unused = () if reads_specials else self.tokenizer.all_special_tokens
        vocabulary = self.tokenizer.get_vocab()
        texts = (number for piece, number in vocabulary.items() if piece not in unused)
        highest, size = max(*texts, *self.opening, *self.closing), getattr(config, "vocab_size", None)
        if size is not None and highest >= size:
            raise MissingWeights(
                f"The tokenizer in {folder} has ids up to {highest:,}, but the model beside it has "
                f"embeddings for {size:,} only. Are both of the same model?"
            )

    @cached_property
    def between_texts(self) -> tuple[int, ...]:
        """Special ids between two texts that are read together, between the opening and closing ones."""
        pair, [single] = self.tokenizer("a", "a")["input_ids"], self.pieces(["a"])
        start = len(self.opening) + len(single)
        return tuple(pair[start : len(pair) - len(single) - len(self.closing)])

    @property
    def padding(self) -> int:
        return self.tokenizer.pad_token_id or 0

    @property
    def own_limit(self) -> int | None:
        """The longest input in tokens, if the tokenizer's configuration states one."""
        limit = self.tokenizer.model_max_length
        return limit if limit < NO_LIMIT else None

    @cached_property
    def heeds_spaces(self) -> bool:
        """Return whether a space before a text changes its ids, as with byte-level tokenizers (GPT-2)."""
        bare, spaced = self.pieces(["a", " a"])
        return bare != spaced

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """Each id's piece in lower case, without the mark of a word's beginning."""
        numbers = self.tokenizer.get_vocab()
        pieces = [""] * (max(numbers.values()) + 1)
        for piece, number in numbers.items():
            pieces[number] = piece.lstrip("\u2581\u0120").lower()
        return tuple(pieces)

    def pieces(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the ids of each text, uncut and without special ids."""
        unknown = [text for text in dict.fromkeys(texts) if text not in self._pieces]
        found: dict[str, tuple[int, ...]] = {}
        if unknown:
            encoded = self.tokenizer(unknown, add_special_tokens=False)["input_ids"]
            found = {text: self.as_text(ids) for text, ids in zip(unknown, encoded, strict=True)}
        for text in dict.fromkeys(texts):
            if text in self._pieces:
                self._pieces.move_to_end(text)
                found[text] = self._pieces[text]
        self._remember(found)
        return [found[text] for text in texts]

    def as_text(self, ids: Sequence[int]) -> tuple[int, ...]:
        """Return a text's ids, in which special ones are unknown words.

        Vocabularies of SentencePiece hold `</s>` as an ordinary piece, which occurs in texts.
        """
        if self._forbidden.isdisjoint(ids):
            return tuple(ids)
        return tuple(self._unknown if each in self._forbidden else each for each in ids)

    def whole(self, texts: Sequence[str], limit: int | None) -> list[Tokens]:
        """Return each text between its special ids, cut from its end to `limit` ids in all."""
        return [self.between(self.opening, pieces, self.closing, limit) for pieces in self.pieces(texts)]

    def read(
        self,
        texts: Sequence[str],
        limit: int,
        *,
        in_parts: bool = False,
        before: Sequence[int] = (),
        after: Sequence[int] = (),
    ) -> list[list[Tokens]]:
        """Return each text between its special ids: cut as by `whole`, or in equal parts that fit.

        The ids `before` and `after` a text are never cut. Raises ValueError if they leave no room for it.
        """
        opening, closing = (*self.opening, *before), (*after, *self.closing)
        room = limit - len(opening) - len(closing)
        if room < 1:
            raise ValueError(f"{limit - room} of {limit} tokens are taken, so there is no room for a text")
        return [
            [
                self.between(opening, part, closing, limit)
                for part in (chunks(pieces, room) if in_parts else [pieces])
            ]
            for pieces in self.pieces(texts)
        ]

    @staticmethod
    def between(
        opening: Sequence[int], pieces: Sequence[int], closing: Sequence[int], limit: int | None
    ) -> Tokens:
        """Return `pieces` between the ids around them, cut from its end to `limit` ids in all."""
        room = len(pieces) if limit is None else max(0, limit - len(opening) - len(closing))
        return Tokens((*opening, *pieces[:room], *closing), share_of(room, len(pieces)))

    def _remember(self, found: dict[str, tuple[int, ...]]) -> None:
        self._pieces.update(found)
        while len(self._pieces) > REMEMBERED_TEXTS:
            self._pieces.popitem(last=False)


def chunks(pieces: Sequence[int], room: int) -> list[tuple[int, ...]]:
    """Split `pieces` into consecutive parts of at most `room` ids, as equal as possible; at least one."""
    count = max(1, -(-len(pieces) // room))
    bounds = [len(pieces) * part // count for part in range(count + 1)]
    return [tuple(pieces[start:end]) for start, end in pairwise(bounds)]
