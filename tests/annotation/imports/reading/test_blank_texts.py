"""Which texts count as empty."""

import unicodedata

import pytest

from annotation.imports.reading.blank_texts import is_blank


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "\u200b",
        "\u200b \ufeff\u2060",
        "\xad",
        "\u3164",
        "\u00a0\u3000",
        "\x00\x1b",
        "\u202e\u2069",
        "\u2800",
    ],
    ids=ascii,
)
def test_text_without_a_visible_character_is_blank(text):
    assert is_blank(text)


@pytest.mark.parametrize(
    "text", [".", "\u200ba\u200b", "\U0001f600", "猫", "مرحبا", "\u0600", "\ufffd", "\ue000"]
)
def test_text_with_a_visible_character_is_not_blank(text):
    assert not is_blank(text)


def test_letters_digits_and_marks_are_visible_unless_unicode_ignores_them():
    ignored = {
        "HANGUL CHOSEONG FILLER",
        "HANGUL JUNGSEONG FILLER",
        "HANGUL FILLER",
        "HALFWIDTH HANGUL FILLER",
    }
    found = {
        unicodedata.name(character)
        for character in map(chr, range(0x11_0000))
        if unicodedata.category(character)[0] in "LNP" and is_blank(character)
    }
    assert found == ignored
