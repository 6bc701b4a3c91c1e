"""Reading several tables as of one moment, without blocking writers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from django.db import connection, transaction


@contextmanager
def consistent_read() -> Iterator[None]:
    """Let all reads in the block see the database at one moment.

    Inside a transaction, they see what the transaction sees.
    """
    if connection.in_atomic_block:
        yield
        return
    if connection.vendor == "sqlite":
        # By the settings, transactions take the write lock at once, which a reader must not.
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
