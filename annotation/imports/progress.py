"""Progress of an import, reported at most twice a second."""

import time
from collections.abc import Callable

from annotation.imports.reading.importer import Importer

EVERY_S = 0.5
CHECKING, STORING = "checking", "storing"


Progress = Callable[[str, int, int], None]
"""Function of the step (STORING while a transaction loads the file), the rows read and all rows."""


class ProgressReport:
    """Reports how many lines of the import's files have been read."""

    def __init__(self, importer: Importer, progress: Progress | None) -> None:
        self._files = importer.files
        self._progress = progress
        self._total = self._read = 0
        self._step = ""
        self._due = 0.0
        if progress is not None:
            for file in self._files:
                file.watch = self._keep_alive

    def start(self, step: str) -> None:
        """Begin a pass over the files. Raises FileRefused as `TextFile.count_lines` does."""
        if self._progress is None:
            return
        self._total = self._total or sum(file.count_lines() for file in self._files)
        for file in self._files:
            file.lines_read = 0
        self._step = step
        self._read = 0
        self._send()

    def tell(self) -> None:
        """Note the lines read in the pass over the rows. What a format reads before does not count."""
        self._read = sum(file.lines_read for file in self._files)

    def _keep_alive(self) -> None:
        if self._step and time.monotonic() >= self._due:
            self._send()

    def finish(self) -> None:
        if self._progress is not None:
            self._progress(self._step, self._total, self._total)

    def _send(self) -> None:
        if self._progress is not None:
            self._progress(self._step, min(self._total, self._read), self._total)
        self._due = time.monotonic() + EVERY_S
