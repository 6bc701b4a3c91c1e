"""Differences between two versions of a judge, by parameter and by word."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from annotation.declared.settings import value_as_text
from annotation.texts.word_diff import Piece, word_pieces


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
