"""Differences between two versions, from which both texts can be rebuilt."""

from hypothesis import given
from hypothesis import strategies as st

from scoring.judges.version_diff import Difference, Kind, Piece, differences, word_pieces

TEXTS = st.lists(st.sampled_from(["good", "bad", "the", " ", "  ", ", ", ".", "\n", "a-b"]), max_size=12).map(
    "".join
)


def made_of(pieces, *kinds):
    return "".join(piece.text for piece in pieces if piece.kind in kinds)


@given(TEXTS, TEXTS)
def test_both_texts_can_be_rebuilt_from_the_pieces(before, after):
    pieces = word_pieces(before, after)
    assert made_of(pieces, Kind.SAME, Kind.REMOVED) == before
    assert made_of(pieces, Kind.SAME, Kind.ADDED) == after
    assert all(piece.text for piece in pieces)


def test_neighbouring_changes_are_merged():
    assert word_pieces("Is it fluent now?", "Is this clear now?") == (
        Piece(Kind.SAME, "Is "),
        Piece(Kind.REMOVED, "it fluent"),
        Piece(Kind.ADDED, "this clear"),
        Piece(Kind.SAME, " now?"),
    )


def test_only_changed_added_and_removed_parameters_are_listed():
    found = differences({"a": 1, "b": ["x", "y"], "old": True}, {"a": 1, "b": ["x"], "new": 0.5})
    assert [each[:3] for each in found] == [("b", "x,y", "x"), ("new", "", "0.5"), ("old", "yes", "")]
    assert isinstance(found[0], Difference)
    assert differences({"a": 1}, {"a": 1}) == []
