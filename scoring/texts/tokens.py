"""Words of a text, in the two ways ROUGE counts them."""

import unicodedata
from collections.abc import Callable
from functools import cache

Tokenizer = Callable[[str], list[str]]

_SPACE = 0x20
_ASCII_WORDS = bytes(
    code if chr(code) in "abcdefghijklmnopqrstuvwxyz0123456789" else _SPACE for code in range(256)
)


def rouge_score_words(text: str) -> list[str]:
    """Runs of a-z and 0-9 of the lower-cased text: the words of rouge-score 0.1.2 without stemming."""
    return text.lower().encode("ascii", "replace").translate(_ASCII_WORDS).decode("ascii").split()


def unicode_words(text: str) -> list[str]:
    """Runs of letters, marks and digits of any script, lower-cased, in composed form (NFC).

    Scripts written without spaces (Chinese, Japanese, Thai) give one word per run.
    """
    return unicodedata.normalize("NFC", text.lower()).translate(_WORD_CHARACTERS).split()


def lost_all_letters(text: str, sentences: list[list[str]]) -> bool:
    """Whether the text has letters, and none of them is left in the words of its sentences."""
    if text.isascii() or any(not word.isdigit() for words in sentences for word in words):
        return False
    return any(character.isalpha() for character in text)


class _WordCharacters(dict[int, int]):
    """Character code -> itself where it belongs to a word, else a space; filled as characters are met."""

    def __missing__(self, code: int) -> int:
        kept = unicodedata.category(chr(code))[0] in "LMN"
        self[code] = code if kept else _SPACE
        return self[code]


_WORD_CHARACTERS = _WordCharacters()


class _PorterStems(dict[str, str]):
    """Word -> its Porter stem (nltk); as in rouge-score, words of up to 3 characters stay as they are."""

    def __init__(self) -> None:
        super().__init__()
        from nltk.stem.porter import PorterStemmer

        self._stem = PorterStemmer().stem

    def __missing__(self, word: str) -> str:
        self[word] = self._stem(word) if len(word) > 3 else word
        return self[word]


def stemmed(tokenizer: Tokenizer) -> Tokenizer:
    """`tokenizer` followed by Porter stemming; a process stems each word once."""
    stems = _porter_stems()
    return lambda text: list(map(stems.__getitem__, tokenizer(text)))


@cache
def _porter_stems() -> _PorterStems:
    return _PorterStems()
