"""Marks that judges may reply, as models write them (figures, words, stars, letters), and their values."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
WORD = "(?:" + "|".join(WORDS) + ")"
FIGURES = r"[+-]?(?:[0-9]+(?:[.,][0-9]+)?|\.[0-9]+)"
NUMBER = rf"""(?:
    (?<![\w.,/$£€#+-])(?:{FIGURES}|{WORD}(?:\ point(?:\ {WORD})+|\ and\ a\ half)?)(?![\w$£€]|[.,][0-9])
)"""
"""A number by itself, not part of a date, a word, a sum of money or a longer number."""
_NUMBER_MARK = rf"""(?i:
    (?P<number>{NUMBER})
    (?:(?P<percent>[ ]?(?:%|percent\b|per\ cent\b))|(?P<stars>[ -]?stars?\b|[ ]?[★⭐🌟](?![★⭐🌟☆])))?
    (?:
        [ ]?(?:/|out\ of(?:\ a)?(?:\ possible|\ maximum)?(?:\ of)?)[ ]?
        (?P<top>{FIGURES}|{WORD}\b)(?:[ -]?stars?\b|[ ]?[★⭐🌟])?
    )?
    (?:
        [ ]?(?P<between>[-–—~,]|to\b|or\b|and\b)[ ]?
        (?P<more>{FIGURES}|(?<![,d][ ]){WORD})(?:[ ]?(?:/|out\ of)[ ]?{FIGURES}|[ ]?%|[ -]stars?)?
    )?
    (?!\w|[-–—]\w|[/%°]|[.,][0-9])
    | (?P<glyphs>(?<![★⭐🌟☆0-9])(?<![0-9][ ])[★⭐🌟]*[★⭐🌟☆]☆*)(?![★⭐🌟½\w])
)"""
_LETTER_MARK = (
    r"(?:(?<![\w'.])(?P<letter>[A-Z])(?:[ ]?(?:[-–/,&]|or|and)[ ]?(?P<more>[A-Z]))?(?![\w'+/-]|\.\w))"
)
_FILLED_STAR = re.compile("[★⭐🌟]")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")


class Unread(StrEnum):
    """The reasons why a reply gives no score."""

    UNPARSABLE = "unparsable"
    OFF_MARKS = "too little probability on the marks"
    REFUSED = "refused"
    FILTERED = "filtered"
    TRUNCATED = "truncated"
    OUT_OF_RANGE = "out of range"
    EMPTY = "empty reply"


@dataclass(frozen=True)
class MarkScale:
    """The requested marks from `low` to `high`: whole numbers, decimals, letters or words.

    Stars are whole numbers; letters and words stand for low, low + 1 and so on. Raises ValueError for an
    inconsistent scale.
    """

    low: float
    high: float
    decimals: bool = False
    letters: str = ""
    words: tuple[str, ...] = ()
    """Marks that are words, such as No and Yes; replies may differ in case."""

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"scale from {self.low} to {self.high}")
        if self.letters and len(self.letters) != self.high - self.low + 1:
            raise ValueError(f"{len(self.letters)} letters for a scale from {self.low} to {self.high}")
        if self.words and len(self.words) != self.high - self.low + 1:
            raise ValueError(f"{len(self.words)} words for a scale from {self.low} to {self.high}")

    @property
    def mark(self) -> str:
        """Pattern (verbose) of one mark on this scale, or of two that are offered together ("0.7-0.8")."""
        if self.words:
            return _word_mark(self.words)
        return _LETTER_MARK if self.letters else _NUMBER_MARK

    @property
    def has_numbers(self) -> bool:
        return not (self.letters or self.words)

    def value(self, mark: re.Match[str]) -> float | Unread | None:
        """Return the value of a match of `mark`; None if it is no mark but, say, a football result."""
        if self.words:
            said = [each.casefold() for each in self.words].index(mark["word"].casefold())
            return Unread.UNPARSABLE if mark["more"] else float(self.low + said)
        if self.letters:
            place = -1 if mark["more"] else self.letters.find(mark["letter"])
            if place >= 0:
                return float(self.low + place)
            return Unread.UNPARSABLE if mark["more"] else Unread.OUT_OF_RANGE
        if mark["glyphs"]:
            return self._stars(mark["glyphs"])
        number = number_of(mark["number"])
        if mark["more"]:
            is_result = mark["between"].lower() in ("-", "–", "to") and _falls(
                number, number_of(mark["more"])
            )
            return None if is_result else Unread.UNPARSABLE
        if number is None or (mark["top"] and number_of(mark["top"]) != self.high):
            return Unread.UNPARSABLE  # "1/5" on 0 to 1 may be the lowest mark of 1 to 5, or a fifth
        if mark["percent"]:
            if self.low != 0 or 0 < number < 1:  # "0.85%" is hardly meant so
                return Unread.UNPARSABLE
            number = number * self.high / 100
        if mark["stars"] and not mark["top"] and self.high <= 1:
            return Unread.UNPARSABLE  # of how many?
        return self._on_scale(number)

    def _stars(self, glyphs: str) -> float | Unread:
        filled = len(_FILLED_STAR.findall(glyphs))
        if self.high <= 1 or (filled < len(glyphs) and len(glyphs) != self.high):
            return Unread.UNPARSABLE
        return self._on_scale(float(filled))

    def _on_scale(self, number: float) -> float | Unread:
        on_menu = self.decimals or number.is_integer()
        return number + 0.0 if on_menu and self.low <= number <= self.high else Unread.OUT_OF_RANGE


def number_of(written: str) -> float | None:
    """Return a NUMBER's value; None if it is ambiguous: "1,000" may be a thousand or one."""
    if written[-1].isdigit():
        return None if _THOUSANDS.fullmatch(written) else float(written.replace(",", "."))
    words = written.casefold().split()  # "ſix" matches "six" where case does not count
    if "point" in words:
        return float(f"{WORDS.index(words[0])}." + "".join(str(WORDS.index(each)) for each in words[2:]))
    return WORDS.index(words[0]) + (0.5 if "half" in words else 0.0)


def _word_mark(words: tuple[str, ...]) -> str:
    any_of = "|".join(map(re.escape, words))
    return rf"""(?i:(?<![\w'-])(?P<word>{any_of})(?:[ ]?(?:/|or\b|and\b)[ ]?(?P<more>{any_of}))?(?![\w'-]))"""


def _falls(first: float | None, second: float | None) -> bool:
    """Return whether the numbers fall, as in results ("the 6-1 victory") but not in ranges."""
    return first is not None and second is not None and second <= first


@dataclass(frozen=True)
class MarkMenu:
    """The possible marks: `menu` has them in even steps from the lowest (worth 0) to the highest (1)."""

    scale: MarkScale
    menu: tuple[str, ...]
    kind: str
    """The JSON type of a mark."""

    @cached_property
    def worth(self) -> Mapping[str, float]:
        """Mark on the menu -> its worth, from 0 to 1."""
        steps = len(self.menu) - 1
        return {mark: place / steps for place, mark in enumerate(self.menu)}

    @cached_property
    def spellings(self) -> Mapping[str, str]:
        """Spelling -> its mark: "yes", "Yes" and "YES" -> "Yes". Numbers have one."""
        return {spelt: mark for mark in self.menu for spelt in (mark, mark.lower(), mark.upper())}

    @property
    def are_single_tokens(self) -> bool:
        """Return whether each mark is one token in common tokenizers, so that its probability can be read."""
        return not self.scale.decimals

    @property
    def schema(self) -> str:
        """JSON schema of an object with one mark, its `score`."""
        mark: dict[str, object] = {"type": self.kind}
        if self.are_single_tokens:
            mark["enum"] = [json.loads(each) if self.kind == "integer" else each for each in self.menu]
        return json.dumps(
            {
                "type": "object",
                "properties": {"score": mark},
                "required": ["score"],
                "additionalProperties": False,
            }
        )

    def value(self, read: float) -> float:
        """Return the worth, from 0 to 1, of a mark read on `scale`."""
        return (read - self.scale.low) / (self.scale.high - self.scale.low)

    def written(self, label: float) -> str | None:
        """Return a label from 0 to 1 as a mark; None for 0.5 between only two marks.

        Decimals: the label with two decimals. Otherwise the nearest mark, the higher one halfway.
        """
        if self.scale.decimals:
            return f"{label:.2f}"
        if self.has_no_middle and label == 0.5:
            return None
        return self.menu[math.floor(label * (len(self.menu) - 1) + 0.5)]

    @property
    def has_no_middle(self) -> bool:
        return len(self.menu) == 2


MARKS: Mapping[str, MarkMenu] = {
    "decimals": MarkMenu(
        MarkScale(0, 1, decimals=True), tuple(f"{step / 20:.2f}" for step in range(21)), "number"
    ),
    "1-5": MarkMenu(MarkScale(1, 5), ("1", "2", "3", "4", "5"), "integer"),
    "yes_no": MarkMenu(MarkScale(0, 1, words=("No", "Yes")), ("No", "Yes"), "string"),
}
