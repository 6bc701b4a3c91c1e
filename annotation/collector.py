"""Python's garbage collector, which costs as much as the work itself where very many values are made."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Without garbage collection: for what makes very many values, none of them in circles, over all of which
    the collector would walk time and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
