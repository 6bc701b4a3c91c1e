"""Inserting many plain rows, several times as fast as with model objects."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, models


def insert_rows(model: type[models.Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows of database values in the order of the field `names`. Other fields get defaults."""
    fields = {field.name: field for field in model._meta.concrete_fields if not field.primary_key}
    given = [fields.pop(name) for name in names]
    others = list(fields.values())
    defaults = tuple(field.get_db_prep_save(field.get_default(), connection) for field in others)
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(field.column)) for field in (*given, *others))
    values = ", ".join(["%s"] * (len(given) + len(others)))
    statement = f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES ({values})"  # noqa: S608 - names of columns
    with connection.cursor() as cursor:
        cursor.executemany(statement, [(*row, *defaults) for row in rows])


def stored_moment(moment: datetime) -> Any:
    """Return a time as the database stores it."""
    return connection.ops.adapt_datetimefield_value(moment)


def refresh_statistics(tables: Sequence[type[models.Model]]) -> None:
    """Update the statistics of PostgreSQL's planner.

    It does so itself a minute later. Until then it would join the new rows one by one.
    """
    if connection.vendor == "postgresql":
        quoted = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in tables)
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {quoted}")
