"""Names and numbers of a text, as answers; and questions that ask for them by leaving them out.

A rule in place of a tagger: nothing to download, any language that has capital letters.
"""

import re
from collections.abc import Iterable

MASKED = "MASKED"
"""What stands in a question for its answer."""

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['\u2019-](?!s\b)[^\W\d_]+)*")


def answer_spans(sentence: str) -> list[tuple[int, int]]:
    """Begin and end of each name and number in `sentence`, in order.

    A name is a run of words with a capital letter, blanks alone between them; the sentence's first word never
    belongs to one, nor is a single letter a name. A number may have points and commas within; digits to
    which letters with case are attached are none.
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
    """(sentence with MASKED for a name or number, what stood there) for each of them, the first `most`."""
    return [
        (sentence[:start] + MASKED + sentence[end:], sentence[start:end])
        for sentence in sentences
        for start, end in answer_spans(sentence)
    ][:most]


def _has_case(characters: str) -> bool:
    return characters.lower() != characters.upper()
