"""Copies of the SQLite database, made while it is in use, and one a day of its own accord."""

import fcntl
import logging
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils import timezone

KEPT_COPIES = 7
RETRY_S = 3600.0
"""Seconds after a failed daily copy until this process tries again."""

_not_before = 0.0
logger = logging.getLogger(__name__)


def back_up(to: Path) -> None:
    """Copy the database as of one moment into a new file, which is there complete or not at all.

    Blocks no writer. Only its owner may read the file. Raises OSError or sqlite3.Error, as for a full disk.
    """
    unfinished = to.with_name(f"{to.name}.part")
    unfinished.unlink(missing_ok=True)  # of a killed process
    try:
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        source = f"{Path(connection.settings_dict['NAME']).absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(source, uri=True)) as live, closing(sqlite3.connect(unfinished)) as copy:
            live.backup(copy)
        _flush(unfinished)
        unfinished.rename(to)
        _flush(to.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """Have the disk write a file or a folder, so that it survives a power cut."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def back_up_daily() -> None:
    """Make today's copy in settings.BACKUP_DIR unless it is there, and delete all but the last seven.

    A failure is logged, and tried again after `RETRY_S`.
    """
    global _not_before
    folder = settings.BACKUP_DIR
    if folder is None or time.monotonic() < _not_before:
        return
    today = folder / f"touchstone-{timezone.localdate()}.sqlite3"
    if today.exists():
        return
    try:
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not today.exists():
                back_up(today)
                for old in sorted(folder.glob("touchstone-????-??-??.sqlite3"))[:-KEPT_COPIES]:
                    old.unlink()
    except BlockingIOError:
        return  # another worker is at it
    except (OSError, sqlite3.Error) as error:
        _not_before = time.monotonic() + RETRY_S
        logger.error("No backup was made in %s: %s. The next attempt is in an hour.", folder, error)
