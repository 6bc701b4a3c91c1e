"""Finding one object of a project by its id."""

from typing import TypeVar

from django.db.models import Model, QuerySet

from annotation.errors import NotFound

M = TypeVar("M", bound=Model)


def one_of(rows: QuerySet[M], pk: int, what: str) -> M:
    """Return the one of `rows` with this id. Raises NotFound, also for objects of other projects."""
    found = rows.filter(pk=pk).first()
    if found is None:
        raise NotFound(f"There is no such {what} in this project. It may have been deleted.")
    return found
