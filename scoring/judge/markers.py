"""Marks of a prompt inside judged texts, made visible and harmless."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

ROLES = ("system", "developer", "user", "human", "assistant", "instruction", "instructions", "response")
"""Who speaks in conversations, as plain prompts write it before a colon."""

_LEFT_OUT = ("Cc", "Cf", "Mn", "Me")
"""Characters that may stand inside a word and leave it readable: invisible ones and accents."""


class Markers:
    """Knows by which marks a model could take a part of a text for a part of the prompt around it.

    These are labels with a colon (`Score:`), headings (`###`) and tokens of chat formats (`<|im_start|>`,
    `</s>`, `[INST]`), whatever they are written with: capitals, wide letters, invisible characters, accents,
    a few other characters before the colon.
    """

    def __init__(self, labels: Iterable[str]) -> None:
        """`labels` are those of the prompt itself; the roles of conversations are always among them."""
        names = {r"[\s_]*".join(map(re.escape, _plain(label).split())) for label in (*labels, *ROLES)}
        named = "|".join(sorted(names - {""}, key=len, reverse=True))
        self._marks = re.compile(
            rf"(?:{named})(?P<colons>(?:(?:[^\w:=∶]|[\d_]){{0,16}}[:=∶])+)"
            r"|\#{2,}"
            r"|<(?=\S)"
            r"|\[(?=/?(?:inst|sys|user|assistant|tool|available_tools)\w*\])"
        )

    def bracketed(self, text: str) -> str:
        """`text` with square brackets around the character that makes a mark: `Score[:] 1.00`."""
        plain, origins = _plain_with_origins(text)
        marks = set()
        for found in self._marks.finditer(plain):
            start, end = found.span("colons") if found["colons"] else found.span()
            marks |= {origins[place] for place in range(start, end) if plain[place] in ":=∶#<["}
        places = sorted(marks)
        pieces = [
            text[before + 1 : place] for before, place in zip([-1, *places], [*places, None], strict=True)
        ]
        return pieces[0] + "".join(
            f"[{text[place]}]{piece}" for place, piece in zip(places, pieces[1:], strict=True)
        )


def _plain(text: str) -> str:
    return "".join(map(_plain_character, text))


def _plain_with_origins(text: str) -> tuple[str, list[int] | range]:
    """The text as a reader takes it, and for each of its characters the place in `text` it comes from."""
    if text.isascii() and text.isprintable():
        return text.lower(), range(len(text))
    plain: list[str] = []
    origins: list[int] = []
    for place, character in enumerate(text):
        for each in _plain_character(character):
            plain.append(each)
            origins.append(place)
    return "".join(plain), origins


@cache
def _plain_character(character: str) -> str:
    decomposed = unicodedata.normalize("NFKD", character).casefold()
    return "".join(each for each in decomposed if unicodedata.category(each) not in _LEFT_OUT)
