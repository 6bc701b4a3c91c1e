"""Statements written by hand that read or write model objects.

Django takes 25 times as long to write a query as to send it, and PostgreSQL ten times as long to plan a join
of 13 tables as to run it. What every step of every rater asks is therefore written once and planned once.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import connection, models
from django.db.backends.postgresql.base import ServerBindingCursor
from django.db.backends.utils import CursorWrapper

M = TypeVar("M", bound=models.Model)


class ModelColumns(Generic[M]):
    """One model's part of a statement that joins several: its `columns`, and objects made of their values.

    `names` are the fields to read beside the key, all of them by default. The others are read when they are
    asked for.
    """

    def __init__(self, model: type[M], alias: str, *names: str) -> None:
        self._model = model
        meta = model._meta
        wanted = {meta.pk, *map(meta.get_field, names)}
        # from_db takes values only in the order of the model's fields.
        self._fields = [field for field in meta.concrete_fields if not names or field in wanted]
        self._names = [field.attname for field in self._fields]
        self.columns = ", ".join(f'{alias}."{field.column}"' for field in self._fields)
        self.width = len(self._fields)

    @cached_property
    def _converters(self) -> list[tuple[int, Any, Sequence[Any]]]:
        found: list[tuple[int, Any, Sequence[Any]]] = []
        for place, field in enumerate(self._fields):
            column = field.get_col(self._model._meta.db_table)
            converters = [*connection.ops.get_db_converters(column), *field.get_db_converters(connection)]
            if converters:
                found.append((place, column, converters))
        return found

    def in_row(self, row: Sequence[Any], start: int = 0) -> M:
        """Return the object whose columns begin at `start` of the row."""
        converted = list(row[start : start + self.width])
        for place, column, converters in self._converters:
            for convert in converters:
                converted[place] = convert(converted[place], column, connection)
        return self._model.from_db(connection.alias, self._names, converted)

    def if_any(self, row: Sequence[Any], start: int) -> M | None:
        """Return as `in_row`; None if the row has no such object."""
        return None if row[start] is None else self.in_row(row, start)


def prepared_cursor() -> CursorWrapper:
    """Return a cursor for statements that come again and again, all with at most 65,535 values.

    PostgreSQL keeps the plan of each one for the connection once it has run `prepare_threshold` times, and
    plans it anew only where the values promise a much better plan.
    """
    cursor = connection.cursor()
    if connection.vendor == "postgresql":
        # Django's usual one writes the values into the text, so that every text is new to the database.
        cursor.cursor = ServerBindingCursor(connection.connection)  # type: ignore[call-arg] # unknown to the stubs
    return cursor


def insert(objects: Sequence[models.Model]) -> None:
    """Insert new objects of one model, complete with their times, by one statement. They get ids."""
    meta = objects[0]._meta
    fields = [field for field in meta.concrete_fields if not field.primary_key]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    row = f"({', '.join(['%s'] * len(fields))})"
    rows = ", ".join([row] * len(objects))
    values = [
        field.get_db_prep_save(getattr(each, field.attname), connection)
        for each in objects
        for field in fields
    ]
    with prepared_cursor() as cursor:
        cursor.execute(f"INSERT INTO {meta.db_table} ({columns}) VALUES {rows} RETURNING id", values)  # noqa: S608 - of columns
        for each, (pk,) in zip(objects, cursor.fetchall(), strict=True):
            each.pk, each._state.adding, each._state.db = pk, False, connection.alias


def update(stored: models.Model, *names: str) -> None:
    """Write these fields of a stored object by one statement."""
    changes = ", ".join(f"{name} = %s" for name in names)
    values = [database_value(type(stored), name, getattr(stored, name)) for name in names]
    with prepared_cursor() as cursor:
        cursor.execute(f"UPDATE {stored._meta.db_table} SET {changes} WHERE id = %s", [*values, stored.pk])  # noqa: S608


def database_value(model: type[models.Model], name: str, value: object) -> Any:
    """Return the value of a field, or of a `_id` column, as a hand-written statement passes it."""
    return model._meta.get_field(name).get_db_prep_save(value, connection)  # type: ignore[union-attr]
