"""What two versions differ in can be put together again to both."""

from hypothesis import given
from hypothesis import strategies as st

from scoring.alignment.differences import Difference, Kind, Piece, differences, word_pieces

TEXTS = st.lists(st.sampled_from(["good", "bad", "the", " ", "  ", ", ", ".", "\n", "a-b"]), max_size=12).map(
    "".join
)


def made_of(pieces, *kinds):
    return "".join(piece.text for piece in pieces if piece.kind in kinds)


@given(TEXTS, TEXTS)
def test_the_pieces_make_up_both_texts(before, after):
    pieces = word_pieces(before, after)
    assert made_of(pieces, Kind.SAME, Kind.REMOVED) == before
    assert made_of(pieces, Kind.SAME, Kind.ADDED) == after
    assert all(piece.text for piece in pieces)


def test_neighbouring_changes_are_read_as_one():
    assert word_pieces("Is it fluent now?", "Is this clear now?") == (
        Piece(Kind.SAME, "Is "),
        Piece(Kind.REMOVED, "it fluent"),
        Piece(Kind.ADDED, "this clear"),
        Piece(Kind.SAME, " now?"),
    )


def test_only_what_differs_is_listed_also_what_one_version_lacks():
    found = differences({"a": 1, "b": ["x", "y"], "old": True}, {"a": 1, "b": ["x"], "new": 0.5})
    assert [each[:3] for each in found] == [("b", "x,y", "x"), ("new", "", "0.5"), ("old", "yes", "")]
    assert isinstance(found[0], Difference)
    assert differences({"a": 1}, {"a": 1}) == []
