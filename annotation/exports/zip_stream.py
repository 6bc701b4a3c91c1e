"""A zip archive that is sent while it is written."""

import io
from collections.abc import Iterable, Iterator
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from django.utils import timezone


def zip_chunks(files: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    """Yield an archive of these files, (name, content), one chunk at a time."""
    sink = _Sink()
    now = timezone.now().timetuple()[:6]
    with ZipFile(sink, "w", ZIP_DEFLATED) as archive:
        for name, content in files:
            info = ZipInfo(name, date_time=now)
            info.compress_type = ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as file:
                for chunk in content:
                    file.write(chunk)
                    yield sink.take()
    yield sink.take()


class _Sink(io.RawIOBase):
    """A file that cannot be rewound, and gives up what was written to it."""

    def __init__(self) -> None:
        self._written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override] # zipfile only writes bytes
        self._written += data
        return len(data)

    def take(self) -> bytes:
        taken = bytes(self._written)
        self._written.clear()
        return taken
