"""A deadline that ends the process, so that a hanging import does not block its worker."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


def end_process_in(seconds: float) -> None:
    """Move the deadline of this process.

    Within `deadline` the kernel ends the process, even in the middle of a call that runs no Python.
    """
    signal.setitimer(signal.ITIMER_REAL, seconds)


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """End the process unless the block ends, or the deadline moves, within `seconds`."""
    in_main_thread = threading.current_thread() is threading.main_thread()  # only there can handlers be set
    handler = signal.signal(signal.SIGALRM, signal.SIG_DFL) if in_main_thread else None
    end_process_in(seconds)
    try:
        yield
    finally:
        end_process_in(0)  # never
        if handler is not None:
            signal.signal(signal.SIGALRM, handler)
