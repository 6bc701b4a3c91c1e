"""Summaries that get the reply to another one, because their texts are the same."""

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

from annotation.imports.reading.blank_texts import is_blank
from scoring.prompts.dimensions import single_line


def repeated_texts(texts: Iterable[tuple[object, str]]) -> int:
    """Count the (article, summary) pairs that equal an earlier one, as prompts write them.

    Each gets the reply to the earlier one, since equal requests are one request. Blank texts get none.
    """
    found = Counter(
        (article, sha256(single_line(text).encode("utf-8", "replace")).digest())
        for article, text in texts
        if not is_blank(text)
    )
    return found.total() - len(found)
