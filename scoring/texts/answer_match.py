"""How well one short answer agrees with another: the F1 of their words, as SQuAD defines it."""

import re
import string
from collections import Counter

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def answer_words(answer: str) -> list[str]:
    """In lower case, without ASCII punctuation and the English articles."""
    return _ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split()


def answer_f1(given: str, expected: str) -> float:
    """In [0, 1]: harmonic mean of the shares of words that both have in common; 0 if they have none."""
    ours, theirs = answer_words(given), answer_words(expected)
    common = (Counter(ours) & Counter(theirs)).total()
    if not common:
        return 0.0
    return 2 * common / (len(ours) + len(theirs))
