"""Texts as token ids: each distinct text tokenised once, what a limit cuts off counted."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from scoring.neural.loading import load_tokenizer

REMEMBERED_TEXTS = 8192
NO_LIMIT = 1_000_000
"""Tokenizers without a limit of their own state one far above this."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The ids that go into a model, special ones included, and what share of the text's own ids they hold."""

    ids: tuple[int, ...]
    share_read: float

    def __len__(self) -> int:
        return len(self.ids)


class TextTokenizer:
    """A folder's tokenizer, see `load_tokenizer`, with a memory of the texts it met last."""

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
        self._unknown: int = self.tokenizer.unk_token_id
        self._forbidden = frozenset(() if reads_specials else self.tokenizer.all_special_ids) - {
            self._unknown
        }
        self._pieces: OrderedDict[str, tuple[int, ...]] = OrderedDict()

    @property
    def padding(self) -> int:
        return self.tokenizer.pad_token_id or 0

    @property
    def own_limit(self) -> int | None:
        """The longest input in tokens that the tokenizer's configuration states, if it states one."""
        limit = self.tokenizer.model_max_length
        return limit if limit < NO_LIMIT else None

    @cached_property
    def heeds_spaces(self) -> bool:
        """Whether a space before a text changes its ids, as with byte-level tokenizers (RoBERTa, GPT-2)."""
        bare, spaced = self.pieces(["a", " a"])
        return bare != spaced

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """For each id its piece in lower case, without the mark of a word's beginning that some have."""
        numbers = self.tokenizer.get_vocab()
        pieces = [""] * (max(numbers.values()) + 1)
        for piece, number in numbers.items():
            pieces[number] = piece.lstrip("\u2581\u0120").lower()
        return tuple(pieces)

    def pieces(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """The ids of each text without special ids, uncut."""
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
        """The ids that the tokenizer gives a text, in which special ones are unknown words.

        Vocabularies of SentencePiece hold `</s>` as a piece like others, which it finds in texts.
        """
        if self._forbidden.isdisjoint(ids):
            return tuple(ids)
        return tuple(self._unknown if each in self._forbidden else each for each in ids)

    def whole(self, texts: Sequence[str], limit: int | None) -> list[Tokens]:
        """Each text alone between its special ids; what exceeds `limit` ids in all is cut from its end."""
        return [self.between(self.opening, pieces, self.closing, limit) for pieces in self.pieces(texts)]

    @staticmethod
    def between(
        opening: Sequence[int], pieces: Sequence[int], closing: Sequence[int], limit: int | None
    ) -> Tokens:
        """`pieces` between the ids around them, cut from its end so that all is at most `limit` ids."""
        room = len(pieces) if limit is None else max(0, limit - len(opening) - len(closing))
        share = min(1.0, room / len(pieces)) if pieces else 1.0
        return Tokens((*opening, *pieces[:room], *closing), share)

    def _remember(self, found: dict[str, tuple[int, ...]]) -> None:
        self._pieces.update(found)
        while len(self._pieces) > REMEMBERED_TEXTS:
            self._pieces.popitem(last=False)


def chunks(pieces: Sequence[int], room: int) -> list[tuple[int, ...]]:
    """`pieces` in consecutive parts of at most `room` ids, as equal as possible; one if there are none."""
    count = max(1, -(-len(pieces) // room))
    bounds = [len(pieces) * part // count for part in range(count + 1)]
    return [tuple(pieces[start:end]) for start, end in pairwise(bounds)]
