"""A training's progress on the command line, which Ctrl-C stops."""

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType

from scoring.management.progress_bar import ProgressBar
from scoring.trainers.contract import Point, Trainer, Watch


@contextmanager
def watched(trainer: Trainer, stored: Watch | None = None) -> Iterator[Watch]:
    """Show the training as a bar. Ctrl-C stops it after the step, and a second one at once."""
    with ProgressBar(sys.stderr, unit="steps") as bar:
        watch = ShownProgress(trainer, bar, stored)

        def interrupt(_number: int, _frame: FrameType | None) -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            watch.is_interrupted = True

        before = signal.signal(signal.SIGINT, interrupt)
        try:
            yield watch
        finally:
            signal.signal(signal.SIGINT, before)


class ShownProgress(Watch):
    """Shows a training's points as they come, and stops it when it is interrupted."""

    def __init__(self, trainer: Trainer, bar: ProgressBar, stored: Watch | None) -> None:
        self._epochs = trainer.params.epochs
        self._bar = bar
        self._stored = stored
        self.is_interrupted = False

    def report(self, point: Point) -> None:
        if self._stored:
            self._stored.report(point)
        total = round(point.step * self._epochs / point.epoch) if point.epoch else point.step
        self._bar("training", point.step, max(point.step, total))
        if point.measures:
            sys.stderr.write(f"step {point.step:,}: {in_words(point.measures)}\n")

    def is_cancelled(self) -> bool:
        return self.is_interrupted or (self._stored is not None and self._stored.is_cancelled())


def in_words(measures: Mapping[str, float], intervals: Mapping[str, Sequence[float]] | None = None) -> str:
    """Return measures with their names, four digits each, and their intervals in brackets."""
    found = intervals or {}
    return ", ".join(
        f"{name.replace('_', ' ')} {value:.4g}{_in_brackets(found[name]) if name in found else ''}"
        for name, value in measures.items()
    )


def _in_brackets(interval: Sequence[float]) -> str:
    low, high = interval
    return f" [{low:.4g}, {high:.4g}]"
