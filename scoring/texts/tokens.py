"""Words of a text, as ROUGE counts them: English or any script.

The package that counts them reads words of a-z and 0-9 only. Other words are rewritten for it.
"""

import re
import unicodedata
from collections.abc import Callable

from rouge_score_rs.tokenizers import DefaultTokenizer

Rewriting = Callable[[str], str]
"""A sentence to the same sentence in words of a-z and 0-9."""

_SPACE = 0x20
_LETTER, _DIGIT = re.compile("[a-z]"), re.compile("[0-9]")


def unchanged(sentence: str) -> str:
    return sentence


def stems() -> Rewriting:
    """Return what replaces each word by its Porter stem; words of up to 3 letters stay as they are."""
    stemmed_words = DefaultTokenizer(use_stemmer=True).tokenize
    return lambda sentence: " ".join(stemmed_words(sentence))


def names_of_words() -> Rewriting:
    """Return what replaces each of `unicode_words` by a name, the same for equal words."""
    names = _Names()
    return lambda sentence: " ".join(map(names.__getitem__, unicode_words(sentence)))


def unicode_words(text: str) -> list[str]:
    """Return runs of letters, marks and digits of any script, lower-cased, in composed form (NFC).

    Scripts written without spaces (Chinese, Japanese, Thai) give one word per run.
    """
    return unicodedata.normalize("NFC", text.lower()).translate(_WORD_CHARACTERS).split()


def has_words(text: str, rewritten: str) -> bool:
    """Return whether words were left by rewriting `text`, and some with letters if the text has letters."""
    left = rewritten.lower()
    if _LETTER.search(left):
        return True
    return bool(_DIGIT.search(left)) and not any(map(str.isalpha, text))


class _WordCharacters(dict[int, int]):
    """Character code -> itself if it belongs to a word, else a space; filled on demand."""

    def __missing__(self, code: int) -> int:
        kept = unicodedata.category(chr(code))[0] in "LMN"
        self[code] = code if kept else _SPACE
        return self[code]


_WORD_CHARACTERS = _WordCharacters()


class _Names(dict[str, str]):
    """Word -> its name in a-z and 0-9; filled on demand."""

    def __missing__(self, word: str) -> str:
        self[word] = f"w{len(self)}"
        return self[word]
