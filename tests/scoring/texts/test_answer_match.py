"""F1 of two answers' words."""

import pytest

from scoring.texts.answer_match import answer_f1


@pytest.mark.parametrize(
    ("given", "expected", "f1"),
    [
        ("The cat", "cat", 1),
        ("400,000 pounds", "about 400,000 pounds!", 4 / 5),
        ("cat cat", "cat", 2 / 3),
        ("dog", "cat", 0),
        ("", "cat", 0),
        ("the", "a", 0),
    ],
)
def test_words_in_common_count(given, expected, f1):
    assert answer_f1(given, expected) == pytest.approx(f1)
