"""Text that imitates parts of a prompt inside judged texts, made harmless."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

ROLES = ("system", "developer", "user", "human", "assistant", "instruction", "instructions", "response")
"""Roles in conversations, as plain prompts write them before a colon."""

_LEFT_OUT = ("Cc", "Cf", "Mn", "Me")
"""Categories of characters that leave a word readable: invisible ones and accents."""


class PromptMarkers:
    """Finds marks by which a model could mistake a part of a text for a part of the prompt.

    These are labels with a colon (`Score:`), headings (`###`) and tokens of chat formats (`<|im_start|>`,
    `</s>`, `[INST]`), also in capitals, with wide letters, invisible characters, accents, or a few other
    characters before the colon.
    """

    def __init__(self, labels: Iterable[str]) -> None:
        """Compile the marks for the prompt's own `labels` and the roles of conversations."""
        names = {r"[\s_]*".join(map(re.escape, _plain(label).split())) for label in (*labels, *ROLES)}
        named = "|".join(sorted(names - {""}, key=len, reverse=True))
        self._marks = re.compile(
            rf"(?:{named})(?P<colons>(?:(?:[^\w:=∶]|[\d_]){{0,16}}[:=∶])+)"
            r"|\#{2,}"
            r"|<(?=\S)"
            r"|\[(?=/?(?:inst|sys|user|assistant|tool|available_tools)\w*\])"
        )

    def bracketed(self, text: str) -> str:
        """Return `text` with square brackets around the character that makes a mark: `Score[:] 1.00`."""
        plain, origins = _plain_with_origins(text)
        marks = set()
        for found in self._marks.finditer(plain):
            start, end = found.span("colons") if found["colons"] else found.span()
            marks |= {origins[place] for place in range(start, end) if plain[place] in ":=∶#<["}
        return "".join(f"[{each}]" if place in marks else each for place, each in enumerate(text))


def _plain(text: str) -> str:
    return "".join(map(_plain_character, text))


def _plain_with_origins(text: str) -> tuple[str, list[int] | range]:
    """Return the text as readers see it, and each character's position in `text`."""
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
