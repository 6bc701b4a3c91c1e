"""Checks of the database as a whole, as after a restore."""

from collections.abc import Iterator

from django.db import connection

from annotation.models import Project
from scoring.integrity.check import check

TRIGGERS = (
    "audit_entry_never_changes",
    "audit_entry_stays",
    "judge_keeps_its_evaluator",
    "judge_version_never_changes",
)


@check(
    "database file",
    "SQLite finds its file, tables and indexes intact, and no row without what a constraint demands.",
    of_project=False,
    only_sqlite=True,
)
def database_file(_project: Project | None) -> Iterator[str]:
    for (line,) in _rows("PRAGMA integrity_check"):
        if line != "ok":
            yield line


@check(
    "references",
    "Every row that another row refers to exists.",
    of_project=False,
    only_sqlite=True,
)
def references(_project: Project | None) -> Iterator[str]:
    for table, row, parent, _ in _rows("PRAGMA foreign_key_check"):
        yield f"{table} {row} (no such {parent})"


@check(
    "triggers",
    "The triggers exist that keep audit entries and versions of judges from being changed.",
    of_project=False,
)
def triggers(_project: Project | None) -> Iterator[str]:
    if connection.vendor == "sqlite":
        there = {name for (name,) in _rows("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
    else:
        there = {name for (name,) in _rows("SELECT tgname FROM pg_trigger WHERE tgenabled <> 'D'")}
    yield from (name for name in TRIGGERS if name not in there)


def _rows(statement: str) -> Iterator[tuple[str, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        yield from iter(cursor.fetchone, None)


DATABASE_CHECKS = (database_file, references, triggers)
