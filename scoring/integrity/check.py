"""A check of the stored data: a rule, and how to find the rows that break it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.db.models import Model, QuerySet

from annotation.models import Project

Broken = Callable[[Project | None], Iterator[str]]
"""Yields the name of each row that breaks a rule, in one project or, for None, in all."""


@dataclass(frozen=True)
class Check:
    """A rule that holds at every moment, whatever raters and workers do meanwhile."""

    name: str
    rule: str
    broken: Broken
    of_project: bool = True
    """False if it concerns the database as a whole."""
    only_sqlite: bool = False


def check(
    name: str, rule: str, *, of_project: bool = True, only_sqlite: bool = False
) -> Callable[[Broken], Check]:
    """Make a check of the function that finds what breaks its rule."""
    return lambda broken: Check(name, rule, broken, of_project, only_sqlite)


def in_project(rows: QuerySet[Model], path: str, project: Project | None) -> QuerySet[Model]:
    """Return those of the project, to which `path` leads; all of them for None."""
    return rows if project is None else rows.filter(**{path: project})


def named(rows: QuerySet[Model], path: str, project: Project | None) -> Iterator[str]:
    """Yield the names of the rows in the project, such as 'rating 12'."""
    name = rows.model._meta.verbose_name
    found = in_project(rows, path, project).order_by("pk")
    for pk in found.values_list("pk", flat=True).iterator():
        yield f"{name} {pk}"
