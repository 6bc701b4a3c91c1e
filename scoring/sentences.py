"""Sentences of a text, in any language, with rules alone: nothing to download."""

from collections.abc import Sequence
from functools import lru_cache

LIBRARIES = ("sentencex",)
ENGLISH = "en"


@lru_cache(maxsize=8192)
def sentences(text: str, language: str | None = None) -> tuple[str, ...]:
    """The sentences of `text` in order, without white space around them; none for a blank text.

    `language` is an ISO 639-1 code, English where it is not known. A piece that begins with a small letter
    belongs to the sentence before it: what stood between was an ordinal or an abbreviation.
    """
    from sentencex import segment

    found: list[str] = []
    for piece in segment((language or ENGLISH).split("-")[0].lower(), text):
        stripped = piece.strip()
        if found and stripped[:1].islower():
            found[-1] += " " + stripped
        elif stripped:
            found.append(stripped)
    return tuple(found)


def sentences_of(text: str, language: str | None, given: Sequence[str] | None) -> tuple[str, ...]:
    """The sentences of `text` that came with it, without blank ones; where none did, those of `sentences`."""
    return tuple(each for each in given or () if each.strip()) or sentences(text, language)
