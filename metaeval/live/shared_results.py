"""Computations that the processes of a web server share, so that only one of them makes each.

A result is a file in a folder that lives as long as the server, hence no longer than the code that computed
it. Who computes it holds a lock, which the system releases should the process die; the others wait for it.
"""

import atexit
import fcntl
import os
import pickle
import shutil
import tempfile
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TextIO, TypeVar

Result = TypeVar("Result")
Tell = Callable[[int], None]

KEPT_FILES = 64
LOOK_EVERY_S = 0.1


class SharedResults:
    """Results in a folder; without one, each process computes its own."""

    folder: Path | None = None

    def share(self) -> None:
        """Share from now on with the processes that this one forks. The folder is removed when it ends."""
        self.folder = Path(tempfile.mkdtemp(prefix="touchstone-results-"))
        atexit.register(_remove_by, os.getpid(), self.folder)

    def once(self, key: Hashable, compute: Callable[[Tell], Result], heard: Tell) -> Result:
        """Return the result of the key's one computation. Keys are equal whose `repr` is.

        `compute` gets a function by which it tells how many of its parts are done; `heard` is called with
        that number here and in the processes that wait. An error is not shared: the next process computes
        again.
        """
        if self.folder is None:
            return compute(heard)
        path = self.folder / sha256(repr(key).encode()).hexdigest()
        with open(path.with_suffix(".lock"), "a+", encoding="ascii") as lock:
            while not _locks(lock):
                heard(_number_in(lock))
                time.sleep(LOOK_EVERY_S)
            with suppress(FileNotFoundError):
                kept: Result = pickle.loads(path.read_bytes())  # noqa: S301 - this server wrote it
                return kept

            def tell(parts: int) -> None:
                heard(parts)
                lock.truncate(0)
                lock.write(str(parts))
                lock.flush()

            result = compute(tell)
            unfinished = path.with_suffix(".part")
            unfinished.write_bytes(pickle.dumps(result))
            unfinished.rename(path)
        self._remove_oldest(self.folder)
        return result

    def _remove_oldest(self, folder: Path) -> None:
        results = sorted(
            (each for each in folder.iterdir() if not each.suffix), key=lambda each: each.stat().st_mtime
        )
        for result in results[:-KEPT_FILES]:
            for path in (result, result.with_suffix(".lock")):
                path.unlink(missing_ok=True)


SHARED = SharedResults()


def _locks(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _number_in(file: TextIO) -> int:
    file.seek(0)
    return int(file.read() or 0)


def _remove_by(pid: int, folder: Path) -> None:
    """Remove the folder in the process that made it; those that it forked end in the same way."""
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
