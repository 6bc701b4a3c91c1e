"""Agreement of two short answers: the F1 of their words, as in SQuAD."""

import re
import string
from collections import Counter

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def answer_words(answer: str) -> list[str]:
    """Return the words in lower case, without ASCII punctuation and English articles."""
    return _ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split()


def answer_f1(given: str, expected: str) -> float:
    """Return the harmonic mean of the shares of common words, in [0, 1]; 0 without common words."""
    ours, theirs = answer_words(given), answer_words(expected)
    common = (Counter(ours) & Counter(theirs)).total()
    if not common:
        return 0.0
    return 2 * common / (len(ours) + len(theirs))
