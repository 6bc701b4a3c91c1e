"""Many rows in portions, so that statements and memory stay small."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def portions(rows: Iterable[T], size: int = 500) -> Iterator[list[T]]:
    """Yield the rows in lists of `size`; the last may be shorter."""
    following = iter(rows)
    while portion := list(islice(following, size)):
        yield portion
