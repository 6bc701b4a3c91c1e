"""What two versions of a judge differ in: parameter by parameter, and word by word within one. Pure."""

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import groupby
from typing import Any, NamedTuple

from scoring.params import value_as_text

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


class Kind(StrEnum):
    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


class Piece(NamedTuple):
    kind: Kind
    text: str


class Difference(NamedTuple):
    """One parameter that is another one; a version that lacks it has an empty text."""

    name: str
    before: str
    after: str
    pieces: tuple[Piece, ...]
    """The same and removed ones make up `before`, the same and added ones `after`."""


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """Of all parameters that differ, in the order of `after`, then what only `before` has."""
    found = []
    for name in dict.fromkeys([*after, *before]):
        if before.get(name) != after.get(name):
            old, new = (value_as_text(each[name]) if name in each else "" for each in (before, after))
            found.append(Difference(name, old, new, word_pieces(old, new)))
    return found


def word_pieces(before: str, after: str) -> tuple[Piece, ...]:
    """How `before` became `after`, by words, marks and white space."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    pieces: list[Piece] = []
    for tag, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece(Kind.SAME, "".join(old[old_from:old_to])))
        else:
            pieces.append(Piece(Kind.REMOVED, "".join(old[old_from:old_to])))
            pieces.append(Piece(Kind.ADDED, "".join(new[new_from:new_to])))
    return _joined(pieces)


def _joined(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Changes with nothing but white space between them as one, so that they can be read."""
    joined: list[Piece] = []
    for is_kept, group in groupby(_with_gaps_closed(pieces), key=lambda piece: piece.kind == Kind.SAME):
        together = list(group)
        for kind in (Kind.SAME,) if is_kept else (Kind.REMOVED, Kind.ADDED):
            text = "".join(piece.text for piece in together if piece.kind == kind)
            if text:
                joined.append(Piece(kind, text))
    return tuple(joined)


def _with_gaps_closed(pieces: list[Piece]) -> list[Piece]:
    """A gap of white space between two changes counts as changed, to the same."""
    closed: list[Piece] = []
    for place, piece in enumerate(pieces):
        is_between = 0 < place < len(pieces) - 1
        if piece.kind == Kind.SAME and is_between and not piece.text.strip():
            closed += [Piece(Kind.REMOVED, piece.text), Piece(Kind.ADDED, piece.text)]
        else:
            closed.append(piece)
    return closed
