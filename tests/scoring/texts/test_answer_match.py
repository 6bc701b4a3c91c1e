"""F1 of the words of two answers."""

import pytest

from scoring.texts.answer_match import answer_f1


def test_f1_counts_common_words(subtests):
    cases = [
        ("The cat", "cat", 1),
        ("400,000 pounds", "about 400,000 pounds!", 4 / 5),
        ("cat cat", "cat", 2 / 3),
        ("dog", "cat", 0),
        ("", "cat", 0),
        ("the", "a", 0),
    ]
    for given, expected, f1 in cases:
        with subtests.test(given=given, expected=expected, f1=f1):
            assert answer_f1(given, expected) == pytest.approx(f1)
