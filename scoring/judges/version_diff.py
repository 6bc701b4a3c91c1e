"""Differences between two versions of a judge, by parameter and by word."""

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any, NamedTuple

from annotation.declared.settings import value_as_text

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


class Kind(StrEnum):
    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


class Piece(NamedTuple):
    kind: Kind
    text: str


class Difference(NamedTuple):
    """A parameter that differs; empty text for a version that lacks it."""

    name: str
    before: str
    after: str
    pieces: tuple[Piece, ...]
    """Same and removed pieces form `before`, same and added ones `after`."""


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """Return the parameters that differ, in the order of `after`, then those only in `before`."""
    found = []
    for name in dict.fromkeys([*after, *before]):
        if before.get(name) != after.get(name):
            old, new = (value_as_text(each[name]) if name in each else "" for each in (before, after))
            found.append(Difference(name, old, new, word_pieces(old, new)))
    return found


def word_pieces(before: str, after: str) -> tuple[Piece, ...]:
    """Return the changes from `before` to `after`, by words, punctuation and white space.

    Changes that only white space separates are joined, for readability.
    """
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    pieces: list[Piece] = []
    removed = added = ""
    for tag, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, False).get_opcodes():
        was, now = "".join(old[old_from:old_to]), "".join(new[new_from:new_to])
        if tag == "equal" and was.strip():
            pieces += [Piece(Kind.REMOVED, removed), Piece(Kind.ADDED, added), Piece(Kind.SAME, was)]
            removed = added = ""
        else:
            removed, added = removed + was, added + now
    pieces += [Piece(Kind.REMOVED, removed), Piece(Kind.ADDED, added)]
    return tuple(piece for piece in pieces if piece.text)
