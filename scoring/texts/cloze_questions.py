"""Names and numbers of a text as answers, and questions that leave them out.

A rule replaces a tagger: nothing to download, any language with capital letters.
"""

import re
from collections.abc import Iterable
from typing import Any

from annotation.declared.settings import setting

MASKED = "MASKED"
"""Text in place of the answer in a question."""

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['\u2019-](?!s\b)[^\W\d_]+)*")


def most_questions_setting(default: int, text: str) -> Any:
    """Declare the setting `most_questions`, made from `text`."""
    return setting(
        default,
        label="Maximum questions",
        help=f"The most questions per {text}, taken from its start; 0: all.",
        low=0,
        phrase="{} questions at most",
    )


def answer_spans(sentence: str) -> list[tuple[int, int]]:
    """Return begin and end of each name and number in `sentence`, in order.

    A name is a run of capitalised words separated by single spaces, without the sentence's first word; a
    single letter is no name. A number may contain points and commas; digits attached to letters with case are
    no number.
    """
    found: list[tuple[int, int]] = []
    running = False
    for number, token in enumerate(_TOKEN.finditer(sentence)):
        word, start, end = token[0], token.start(), token.end()
        is_name = number > 0 and word[0].isupper()
        if is_name and running and sentence[found[-1][1] : start] == " ":
            found[-1] = (found[-1][0], end)
            continue
        is_number = word[0].isdigit() and not _has_case(sentence[start - 1 : start] + sentence[end : end + 1])
        if is_name or is_number:
            found.append((start, end))
        running = is_name
    return [(start, end) for start, end in found if end - start > 1 or sentence[start].isdigit()]


def cloze_questions(sentences: Iterable[str], most: int | None = None) -> list[tuple[str, str]]:
    """Return the first `most` pairs of a sentence with MASKED for a name or number, and that answer."""
    return [
        (sentence[:start] + MASKED + sentence[end:], sentence[start:end])
        for sentence in sentences
        for start, end in answer_spans(sentence)
    ][:most]


def _has_case(characters: str) -> bool:
    return characters.lower() != characters.upper()
