"""Telling a database that cannot be used for the moment from a mistake in a statement."""

import sqlite3

from django.db import InterfaceError, OperationalError


def is_unavailable(error: BaseException | None) -> bool:
    """Return whether the same statement may succeed later: no connection, a lock, no memory, a full disk.

    PostgreSQL reports mistakes by other classes. SQLite reports them as OperationalError, too, with the code
    SQLITE_ERROR.
    """
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    cause = error.__cause__
    is_mistake = isinstance(cause, sqlite3.Error) and cause.sqlite_errorname == "SQLITE_ERROR"
    return not is_mistake
