"""Counting the invalid rows of a file, and stopping if there are too many."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from annotation.imports.reading.records import FileRefused, Problem, Rejected

MOST_PROBLEMS = 1000
"""Problems listed per file. Beyond this number, reading goes on only if invalid rows are skipped."""

T = TypeVar("T")


class TooManyProblems(FileRefused):
    """Reading stopped at too many problems. `problems` has the first."""

    def __str__(self) -> str:
        return f"{super().__str__()}\nand more: reading stopped"


class WrongRows:
    """The invalid rows of a file so far. With `left_out`, up to half of all rows may be invalid."""

    def __init__(self, *, left_out: bool) -> None:
        self.problems: list[Problem] = []
        """The first MOST_PROBLEMS."""
        self.found = 0
        """Problems, listed or not."""
        self.count = 0
        self._left_out = left_out

    def add(self, rejected: Rejected, rows_read: int) -> None:
        """Count a rejected row. Raises TooManyProblems."""
        self.count += 1
        self.found += len(rejected.problems)
        self.problems += rejected.problems[: MOST_PROBLEMS - len(self.problems)]
        if self._left_out:
            hopeless = self.count > MOST_PROBLEMS and 2 * self.count > rows_read
        else:
            hopeless = self.found > MOST_PROBLEMS
        if hopeless:
            raise TooManyProblems(self.problems)


def limited(items: Iterable[T], *, left_out: bool) -> Iterator[T]:
    """Yield the items until too many are rejected. Raises TooManyProblems."""
    wrong = WrongRows(left_out=left_out)
    for rows_read, item in enumerate(items, start=1):
        if isinstance(item, Rejected):
            wrong.add(item, rows_read)
        yield item
