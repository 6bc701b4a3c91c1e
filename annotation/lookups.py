"""One object of a project by its id, or the refusal that says there is none."""

from typing import TypeVar

from django.db.models import Model, QuerySet

from annotation.errors import NotFound

M = TypeVar("M", bound=Model)


def one_of(rows: QuerySet[M], pk: int, what: str) -> M:
    """The one of `rows` with this id. Raises NotFound, so that another project's objects do not leak."""
    found = rows.filter(pk=pk).first()
    if found is None:
        raise NotFound(f"There is no such {what} in this project.")
    return found
