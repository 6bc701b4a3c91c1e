"""Files that are compressed because of their name."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast


@contextmanager
def open_for_writing(path: Path, name: str) -> Iterator[BinaryIO]:
    """Open the file at `path` for bytes, which are compressed with gzip if its final `name` ends in .gz.

    Equal contents give equal files, since no time and no name is stored. Raises OSError.
    """
    with path.open("wb") as file:
        if not name.endswith(".gz"):
            yield file
            return
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as compressed:
            yield cast(BinaryIO, compressed)
