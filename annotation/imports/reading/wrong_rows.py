"""Counting the invalid rows of a file, and stopping if there are too many."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from annotation.imports.reading.records import FileRefused, Problem, Rejected

MOST_PROBLEMS = 1000
"""Problems listed per file. Beyond this number, reading goes on only if invalid rows are skipped."""
MOST_SKIPPED = 50_000
"""The most invalid rows that are skipped. Nobody would read more of them."""
STOPPED = (
    f"There are more than {MOST_PROBLEMS:,} problems, so reading stopped. Check the format and its "
    "options. If they are right, correct the invalid rows or skip them."
)
MOSTLY_WRONG = (
    f"More than {MOST_PROBLEMS:,} rows are invalid, more than half of those read, so reading stopped. "
    "Check the format and its options."
)
TOO_MANY_TO_SKIP = (
    f"More than {MOST_SKIPPED:,} rows are invalid, so reading stopped. Check the format and its options. If "
    "they are right, correct the invalid rows or split the file."
)

T = TypeVar("T")


class TooManyProblems(FileRefused):
    """Reading stopped at too many problems. `problems` has the first; `reason` says why, and what to do."""

    def __init__(self, problems: Sequence[Problem], reason: str) -> None:
        super().__init__(problems)
        self.reason = reason

    def __str__(self) -> str:
        return f"{super().__str__()}\nand more: reading stopped"


class WrongRows:
    """The invalid rows of a file so far.

    With `left_out`, up to half of all rows may be invalid, and MOST_SKIPPED at most.
    """

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
        if not self._left_out and self.found > MOST_PROBLEMS:
            raise TooManyProblems(self.problems, STOPPED)
        if self._left_out and self.count > MOST_PROBLEMS and 2 * self.count > rows_read:
            raise TooManyProblems(self.problems, MOSTLY_WRONG)
        if self.count > MOST_SKIPPED:
            raise TooManyProblems(self.problems, TOO_MANY_TO_SKIP)


def limited(items: Iterable[T], *, left_out: bool) -> Iterator[T]:
    """Yield the items until too many are rejected. Raises TooManyProblems."""
    wrong = WrongRows(left_out=left_out)
    for rows_read, item in enumerate(items, start=1):
        if isinstance(item, Rejected):
            wrong.add(item, rows_read)
        yield item
