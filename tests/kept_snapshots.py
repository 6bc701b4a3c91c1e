"""Snapshots that are kept between requests although the tests run in a transaction."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from metaeval.snapshot import snapshot


@contextmanager
def kept_snapshots(kept: dict[int, object]) -> Iterator[None]:
    """Read snapshots from `kept` or put them there, as a server does with its own.

    For requests that change no results. A server keeps no snapshot of a transaction, because what is rolled
    back would stay in it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot, "connection", SimpleNamespace(in_atomic_block=False))
        patch.setattr(snapshot, "_kept", kept)
        yield
