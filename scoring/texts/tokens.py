"""Words of a text, as ROUGE counts them: English or any script."""

import unicodedata
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.stem.porter import PorterStemmer

Tokenizer = Callable[[str], list[str]]

_SPACE = 0x20
_ASCII_WORDS = bytes(
    code if chr(code) in "abcdefghijklmnopqrstuvwxyz0123456789" else _SPACE for code in range(256)
)


def rouge_score_words(text: str) -> list[str]:
    """Return runs of a-z and 0-9 of the lower-cased text: the words of rouge-score 0.1.2 without stemming."""
    return text.lower().encode("ascii", "replace").translate(_ASCII_WORDS).decode("ascii").split()


def unicode_words(text: str) -> list[str]:
    """Return runs of letters, marks and digits of any script, lower-cased, in composed form (NFC).

    Scripts written without spaces (Chinese, Japanese, Thai) give one word per run.
    """
    return unicodedata.normalize("NFC", text.lower()).translate(_WORD_CHARACTERS).split()


def lost_all_letters(text: str, sentences: list[list[str]]) -> bool:
    """Return whether the text has letters, but the words of its sentences have none."""
    if text.isascii() or any(not word.isdigit() for words in sentences for word in words):
        return False
    return any(character.isalpha() for character in text)


class _WordCharacters(dict[int, int]):
    """Character code -> itself if it belongs to a word, else a space; filled on demand."""

    def __missing__(self, code: int) -> int:
        kept = unicodedata.category(chr(code))[0] in "LMN"
        self[code] = code if kept else _SPACE
        return self[code]


_WORD_CHARACTERS = _WordCharacters()


def stemmed(tokenizer: Tokenizer) -> Tokenizer:
    """Return `tokenizer` followed by Porter stemming; a process stems each word once."""
    return lambda text: list(map(_porter_stem, tokenizer(text)))


@cache
def _porter_stem(word: str) -> str:
    """Return the stem (nltk); as in rouge-score, words of up to 3 characters stay as they are."""
    return _stemmer().stem(word) if len(word) > 3 else word


@cache
def _stemmer() -> "PorterStemmer":
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()
