"""Finding one object of a project by its id, and reading ids that were sent as text."""

from typing import TypeVar

from django.db.models import Model, QuerySet

from annotation.errors import NotFound

LARGEST_ID = 2**63 - 1  # of every database

M = TypeVar("M", bound=Model)


def one_of(rows: QuerySet[M], pk: int, what: str) -> M:
    """Return the one of `rows` with this id. Raises NotFound, also for objects of other projects."""
    found = rows.filter(pk=pk).first()
    if found is None:
        raise NotFound(f"There is no such {what} in this project. It may have been deleted.")
    return found


def read_number(text: str) -> int | None:
    """Return the whole number from 0 to `LARGEST_ID` that the text writes in digits; None for other texts."""
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(LARGEST_ID))):
        return None
    number = int(text)
    return number if number <= LARGEST_ID else None
