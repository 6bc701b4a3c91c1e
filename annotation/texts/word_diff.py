"""The differences between two versions of a text, by words."""

import re
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
COMPARED_CLOSELY = 400
"""Lines or words. In more, frequent ones are no anchors: comparing 2,000 words and spaces could take 20 s."""
COMPARED = 3000
"""Lines or words. More are shown as replaced altogether."""
LINES_AROUND = 1
"""Unchanged lines that are shown before and after a change."""


class Kind(StrEnum):
    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


class Piece(NamedTuple):
    kind: Kind
    text: str


def word_pieces(before: str, after: str) -> tuple[Piece, ...]:
    """Return the changes from `before` to `after`, by words, punctuation and white space.

    Changes that only white space separates are joined, for readability.
    """
    old, new, comparison = _compared(_WORDS.findall(before), _WORDS.findall(after))
    pieces: list[Piece] = []
    removed = added = ""
    for tag, old_from, old_to, new_from, new_to in comparison.get_opcodes():
        was, now = "".join(old[old_from:old_to]), "".join(new[new_from:new_to])
        if tag == "equal" and was.strip():
            pieces += [Piece(Kind.REMOVED, removed), Piece(Kind.ADDED, added), Piece(Kind.SAME, was)]
            removed = added = ""
        else:
            removed, added = removed + was, added + now
    pieces += [Piece(Kind.REMOVED, removed), Piece(Kind.ADDED, added)]
    return tuple(piece for piece in pieces if piece.text)


def changed_passages(before: str, after: str) -> list[tuple[Piece, ...]]:
    """Return each changed passage of a long text, with the lines around it.

    Lines are compared first and words only within changed lines, so that long texts take little time.
    """
    old, new, comparison = _compared(before.splitlines(keepends=True), after.splitlines(keepends=True))
    passages = []
    for passage in comparison.get_grouped_opcodes(LINES_AROUND):
        pieces: list[Piece] = []
        for tag, old_from, old_to, new_from, new_to in passage:
            was, now = "".join(old[old_from:old_to]), "".join(new[new_from:new_to])
            pieces += [Piece(Kind.SAME, was)] if tag == "equal" else word_pieces(was, now)
        passages.append(tuple(pieces))
    return passages


def _compared(old: list[str], new: list[str]) -> tuple[list[str], list[str], SequenceMatcher[str]]:
    longest = max(len(old), len(new))
    if longest > COMPARED:
        old, new = ["".join(old)], ["".join(new)]
    return old, new, SequenceMatcher(None, old, new, longest > COMPARED_CLOSELY)
