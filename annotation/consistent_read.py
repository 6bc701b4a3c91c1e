"""Reading several tables as they are at one moment, without keeping anybody from writing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from django.db import connection, transaction


@contextmanager
def consistent_read() -> Iterator[None]:
    """Everything read within sees the database at one moment. Within a transaction: as that one sees it."""
    if connection.in_atomic_block:
        yield
        return
    if connection.vendor == "sqlite":
        # The settings make transactions take the write lock at once, which a reader must not.
        connection.ensure_connection()  # which sets the usual mode
        sqlite = cast(Any, connection)
        usual, sqlite.transaction_mode = sqlite.transaction_mode, "DEFERRED"
        try:
            with transaction.atomic():
                yield
        finally:
            sqlite.transaction_mode = usual
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
