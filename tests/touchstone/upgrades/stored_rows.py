"""The rows of a database as JSON, so that later versions can be tried on what an earlier one has stored.

A file is made with the version that stored the rows, from a database on SQLite:
`python -m tests.touchstone.upgrades.stored_rows DATABASE.sqlite3 DATE.json.gz`.
"""

import gzip
import json
import sqlite3
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Rows = Mapping[str, Mapping[str, list[Any]]]
"""Table -> column -> values, a column as long as the others of its table."""
MADE_BY_MIGRATIONS = ("django_migrations", "django_content_type", "auth_permission", "sqlite_sequence")


def write(database: Path, path: Path) -> None:
    """Write the rows of an SQLite file, and which migrations it has."""
    connection = sqlite3.connect(database)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    migrations = connection.execute("SELECT app, name FROM django_migrations ORDER BY id").fetchall()
    rows = {}
    for table in sorted(set(tables) - set(MADE_BY_MIGRATIONS)):
        found = connection.execute(f'SELECT * FROM "{table}" ORDER BY 1')
        columns = [column for column, *_ in found.description]
        values = found.fetchall()
        if values:
            rows[table] = {
                name: list(each) for name, each in zip(columns, zip(*values, strict=True), strict=True)
            }
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump({"migrations": migrations, "rows": rows}, file, ensure_ascii=False)


def read(path: Path) -> tuple[list[tuple[str, str]], Rows]:
    """Return the migrations, as (app, name), and the rows of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        stored = json.load(file)
    return [(app, name) for app, name in stored["migrations"]], stored["rows"]


def load(rows: Rows) -> None:
    """Insert the rows into the empty tables of this process's database, as they are."""
    from django.db import connection

    is_sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA foreign_keys = OFF" if is_sqlite else "SET session_replication_role = replica")
        for table, columns in rows.items():
            places = ", ".join(["%s"] * len(columns) if is_sqlite else _casts(table, columns))
            names = ", ".join(f'"{name}"' for name in columns)
            values = zip(*columns.values(), strict=True)
            if not is_sqlite:
                values = ([None if each is None else str(each) for each in row] for row in values)
            cursor.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({places})', list(values))
            if not is_sqlite and "id" in columns:
                cursor.execute(
                    "SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [table, max(columns["id"])]
                )
        cursor.execute("PRAGMA foreign_keys = ON" if is_sqlite else "SET session_replication_role = origin")


def _casts(table: str, columns: Iterable[str]) -> list[str]:
    """Return for each column the place of a text that PostgreSQL turns into the column's type."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name, udt_name FROM information_schema.columns WHERE table_name = %s", [table]
        )
        types = dict(cursor.fetchall())
    return [f"%s::text::{types[name]}" for name in columns]


def stored(tables: Iterable[str]) -> Rows:
    """Return the rows of the tables in this process's database, as texts on PostgreSQL."""
    from django.db import connection

    cast = "" if connection.vendor == "sqlite" else "::text"
    rows = {}
    with connection.cursor() as cursor:
        for table in tables:
            names = [each.name for each in connection.introspection.get_table_description(cursor, table)]
            columns = ", ".join(f'"{name}"{cast}' for name in names)
            cursor.execute(f'SELECT {columns} FROM "{table}" ORDER BY 1')
            values = cursor.fetchall()
            rows[table] = {
                name: list(each) for name, each in zip(names, zip(*values, strict=True), strict=True)
            }
    return rows


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
