"""How far an import is, told at most twice a second."""

import time
from typing import Protocol

from annotation.importers.importer import Importer

EVERY_S = 0.5
CHECKING, STORING = "checking", "storing"


class Progress(Protocol):
    def __call__(self, step: str, rows_read: int, rows_total: int, /) -> None:
        """`step` is CHECKING, or STORING inside the transaction that loads the file."""


class ProgressReport:
    """Rows are lines, of all files of the import."""

    def __init__(self, importer: Importer, progress: Progress | None) -> None:
        self._files = importer.files
        self._progress = progress
        self._total = 0
        self._step = ""
        self._due = 0.0

    def start(self, step: str) -> None:
        """Raises FileRefused as `TextFile.count_lines` does."""
        if self._progress is None:
            return
        self._total = self._total or sum(file.count_lines() for file in self._files)
        for file in self._files:
            file.lines_read = 0
        self._step = step
        self._send()

    def tell(self) -> None:
        if self._progress is not None and time.monotonic() >= self._due:
            self._send()

    def finish(self) -> None:
        if self._progress is not None:
            self._progress(self._step, self._total, self._total)

    def _send(self) -> None:
        read = min(self._total, sum(file.lines_read for file in self._files))
        if self._progress is not None:
            self._progress(self._step, read, self._total)
        self._due = time.monotonic() + EVERY_S
