"""Computations that the processes of a web server share, so that only one of them makes each.

A result is a file in a folder that lives as long as the server, hence no longer than the code that computed
it. Who computes it holds a lock, which the system releases should the process die; the others wait for it.
A result is pickled. Only what these processes have signed is ever unpickled, since that runs what it says.
"""

import fcntl
import hmac
import os
import pickle
import secrets
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from hashlib import sha256
from typing import IO, Any, TypeVar

Result = TypeVar("Result")
Tell = Callable[[int], None]

KEPT_FILES = 64
SIGNATURE_BYTES = 32
LOOK_EVERY_S = 0.1


class SharedResults:
    """Results in a folder; without one, each process computes its own."""

    def __init__(self) -> None:
        self._folder: int | None = None
        """Its descriptor. Should its name be removed, nobody else's folder can take its place."""
        self._secret = b""
        """Known to the processes that share the folder, and stored nowhere."""

    def share(self, folder: str) -> None:
        """Share from now on, in an empty folder, with the processes that this one forks."""
        self._folder = os.open(folder, os.O_DIRECTORY)
        self._secret = secrets.token_bytes()

    def once(self, key: Hashable, compute: Callable[[Tell], Result], heard: Tell) -> Result:
        """Return the result of the key's one computation. Keys are equal whose `repr` is.

        `compute` gets a function by which it tells how many of its parts are done; `heard` is called with
        that number here and in the processes that wait. An error is not shared: the next process computes
        again. So does each if the folder cannot be written.
        """
        name = sha256(repr(key).encode()).hexdigest()
        try:
            lock = self._open(f"{name}.lock", "ab+")
        except OSError:
            return compute(heard)
        with lock:
            while not _locks(lock):
                heard(_number_in(lock))
                time.sleep(LOOK_EVERY_S)
            with suppress(OSError, _NotOurs):
                kept: Result = self._kept(name)
                return kept

            def tell(parts: int) -> None:
                heard(parts)
                with suppress(OSError):
                    lock.truncate(0)
                    lock.write(b"%d" % parts)
                    lock.flush()

            result = compute(tell)
            with suppress(OSError):
                self._keep(name, result)
        return result

    def _kept(self, name: str) -> Any:
        with self._open(name, "rb") as file:
            signature, pickled = file.read(SIGNATURE_BYTES), file.read()
        if not hmac.compare_digest(signature, self._signature(name, pickled)):
            raise _NotOurs
        return pickle.loads(pickled)  # noqa: S301 - these processes signed it

    def _signature(self, name: str, pickled: bytes) -> bytes:
        return hmac.digest(self._secret, name.encode() + pickled, "sha256")

    def _keep(self, name: str, result: object) -> None:
        pickled = pickle.dumps(result)
        with self._open(f"{name}.part", "wb") as file:
            file.write(self._signature(name, pickled) + pickled)
        os.rename(f"{name}.part", name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        results = [each for each in os.listdir(self._folder) if "." not in each]
        results.sort(key=lambda each: os.stat(each, dir_fd=self._folder).st_mtime)
        for oldest in results[:-KEPT_FILES]:
            for each in (oldest, f"{oldest}.lock"):
                os.unlink(each, dir_fd=self._folder)

    def _open(self, name: str, mode: str) -> IO[Any]:
        if self._folder is None:
            raise FileNotFoundError(name)
        return open(name, mode, opener=lambda path, flags: os.open(path, flags, 0o600, dir_fd=self._folder))


class _NotOurs(Exception):
    """A file that none of these processes wrote."""


SHARED = SharedResults()


def _locks(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _number_in(file: IO[bytes]) -> int:
    file.seek(0)
    return int(file.read() or 0)
