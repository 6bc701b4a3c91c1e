"""Processes of a shared worker that may wait for hosted models at once.

An endpoint that answers nobody holds a process for minutes. In a worker that serves other queues besides, one
process stays free for imports and other runs.
"""

import fcntl
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import IO

QUEUE = "llm"

_locks: IO[bytes] | None = None
"""A file with a byte for each place. The lock of a process ends with it, and is not inherited by a fork."""
_places = 0


def set_up(queues: Collection[str], processes: int) -> None:
    """Decide the number of places, in the worker's main process before it forks."""
    global _locks, _places
    is_shared = QUEUE in queues and len(queues) > 1 and processes > 1
    _locks = tempfile.TemporaryFile() if is_shared else None  # noqa: SIM115 - open until the worker ends
    _places = processes - 1


@contextmanager
def place() -> Iterator[bool]:
    """Yield whether this process has a place, until the end of the block; always True without `set_up`."""
    if _locks is None:
        yield True
        return
    taken = next((number for number in range(_places) if _take(_locks, number)), None)
    try:
        yield taken is not None
    finally:
        if taken is not None:
            fcntl.lockf(_locks, fcntl.LOCK_UN, 1, taken)


def _take(locks: IO[bytes], number: int) -> bool:
    try:
        fcntl.lockf(locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
    except BlockingIOError:
        return False
    return True
