import unicodedata

import pytest

from scoring.texts.tokens import names_of_words, unicode_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Größe, Straße!", ["größe", "straße"]),
        ("İstanbul'da", ["i̇stanbul", "da"]),
        ("Tie\u0302\u0301ng Vie\u0323\u0302t", ["tiếng", "việt"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("snake_case 3.5", ["snake", "case", "3", "5"]),
    ],
)
def test_unicode_words_are_letters_marks_and_digits(text, words):
    assert unicode_words(text) == [unicodedata.normalize("NFC", word) for word in words]


def test_equal_words_have_equal_names_in_ascii():
    rewriting = names_of_words()
    first, again = rewriting("Кошка ест рыбу"), rewriting("рыбу кошка")
    assert first.isascii()
    assert again.split() == [first.split()[2], first.split()[0]]
