"""Progress of a command: a bar on a terminal, plain lines otherwise."""

import time
from contextlib import AbstractContextManager
from typing import TextIO

from tqdm import tqdm

LINE_EVERY_S = 2.0


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """Call it with the step, the amount done and the total. A new step starts a new bar."""

    def __init__(self, stream: TextIO, unit: str = "rows") -> None:
        self._stream = stream
        self._unit = unit
        self._step = ""
        self._bar: tqdm[None] | None = None
        self._due = 0.0

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(self, step: str, done: int, total: int) -> None:
        if self._stream.isatty():
            self._draw(step, done, total)
        elif step != self._step or done == total or time.monotonic() >= self._due:
            self._stream.write(f"{step}: {done:,} of {total:,} {self._unit}\n")
            self._due = time.monotonic() + LINE_EVERY_S
        self._step = step

    def _draw(self, step: str, done: int, total: int) -> None:
        if self._bar is None or step != self._step:
            if self._bar is not None:
                self._bar.close()
            self._bar = tqdm(desc=step, total=total, unit=f" {self._unit}", file=self._stream)
        self._bar.update(done - self._bar.n)
