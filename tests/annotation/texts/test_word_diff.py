"""The differences of two texts, from which both can be rebuilt."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.texts.word_diff import Kind, Piece, changed_passages, word_pieces

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


@pytest.mark.parametrize("words", [1400, 4000])
def test_long_texts_are_compared_within_seconds(words):
    before, after = (" ".join(f"{letter}{n}" for n in range(words)) for letter in "ab")
    began = time.process_time()
    for pieces in (word_pieces(before, after), *changed_passages(before, after)):
        assert made_of(pieces, Kind.SAME, Kind.REMOVED) == before
        assert made_of(pieces, Kind.SAME, Kind.ADDED) == after
    assert time.process_time() - began < 10  # a tenth of a second, where a minute is possible


def test_neighbouring_changes_are_merged():
    assert word_pieces("Is it fluent now?", "Is this clear now?") == (
        Piece(Kind.SAME, "Is "),
        Piece(Kind.REMOVED, "it fluent"),
        Piece(Kind.ADDED, "this clear"),
        Piece(Kind.SAME, " now?"),
    )


LINES = st.lists(st.sampled_from(["One.\n", "Two.\n", "Three words here.\n", "\n"]), max_size=8).map("".join)


@given(LINES, LINES)
def test_passages_hold_exactly_the_lines_that_changed(before, after):
    passages = changed_passages(before, after)
    assert (passages == []) == (before == after)
    for passage in passages:
        assert made_of(passage, Kind.SAME, Kind.REMOVED) in before
        assert made_of(passage, Kind.SAME, Kind.ADDED) in after


def test_unchanged_lines_far_from_a_change_are_left_out():
    (passage,) = changed_passages("One.\nTwo.\nThree.\nFour.\n", "One.\nTwo.\nThree.\nFive.\n")
    assert passage == (
        Piece(Kind.SAME, "Three.\n"),
        Piece(Kind.REMOVED, "Four"),
        Piece(Kind.ADDED, "Five"),
        Piece(Kind.SAME, ".\n"),
    )


def test_blank_lines_around_a_change_are_unchanged():
    (passage,) = changed_passages("One.\n\nTwo.\n\n", "One.\n\nThree.\n\n")
    assert [piece.kind for piece in passage if not piece.text.strip()] == [Kind.SAME, Kind.SAME]
