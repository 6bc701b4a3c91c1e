"""Text files line by line: plain or gzip, UTF-8 with or without a byte order mark, with limits."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from annotation.imports.reading.records import FileRefused, Problem, shown

LONGEST_LINE = 10 * 1024 * 1024  # bytes
LARGEST_DOCUMENT = 512 * 1024 * 1024  # bytes of a file that has to be read as a whole
LARGEST_FILE = 4 * 1024**3  # bytes after unpacking; more is treated as a decompression bomb
MOST_LINES = 10_000_000

GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"
OLD_EXCEL = b"\xd0\xcf\x11\xe0"
NOT_TEXT = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    ZIP_MAGIC: "a zip archive or an Excel workbook",
    OLD_EXCEL: "an Excel file in the old format (.xls) or with a password",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF",
}
"""Kinds of files that cannot be read, by their first bytes."""
BLOCK = 1024 * 1024
WATCHED = 4096  # bytes of lines between two calls of `watch`, or one longer line
_DAMAGES = (OSError, EOFError, zlib.error)


class TextFile:
    """A file to import, called `name` in messages.

    `lines_read` counts the lines of the current pass. `watch` is called repeatedly while the file is read.
    `notes` are remarks on how it was read.
    """

    def __init__(self, path: Path, name: str = "") -> None:
        self.path = path
        self.name = name or path.name
        self.lines_read = 0
        self.notes: list[str] = []
        self.watch: Callable[[], object] = lambda: None
        if not path.is_file():
            raise FileRefused.because(self.name, 0, "file", "no such file", "a file that can be read")

    def lines(self, *, keep_returns: bool = False) -> Iterator[tuple[int, str | Problem]]:
        """Yield numbered lines without line ends, or a Problem for a line that is not text.

        Only a line feed ends a line (and one carriage return before it is dropped, unless `keep_returns`):
        texts may hold the other characters that Unicode counts as line breaks. Raises FileRefused for damaged
        and non-text files.
        """
        self.lines_read = number = 0
        unpacked = watched = 0
        with self._open() as stream:
            while True:
                if unpacked >= watched:
                    self.watch()
                    watched = unpacked + WATCHED
                try:
                    data = stream.readline(LONGEST_LINE + 1)
                except _DAMAGES as error:
                    raise self._damaged(error, number + 1) from None
                if not data:
                    return
                number += 1
                self.lines_read = number
                size = len(data)
                unpacked += size
                if unpacked > LARGEST_FILE or number > MOST_LINES:
                    self._check_size(number, unpacked)
                if data == b"\n":
                    yield number, ""
                    continue
                if size > LONGEST_LINE:
                    unpacked += self._skip_rest(stream, data, number)
                    yield number, self._problem(number, f"over {LONGEST_LINE:,} bytes", "a shorter line")
                    continue
                line = self._decode(data, number)
                yield number, line if keep_returns or isinstance(line, Problem) else line.removesuffix("\r")

    def text(self, largest: int = LARGEST_DOCUMENT) -> str:
        """Return the whole file, for formats that are one document. Raises FileRefused as `lines` does."""
        with self._open() as stream:
            blocks, size = [], 0
            while block := self._read(stream.read, BLOCK):
                blocks.append(block)
                size += len(block)
                if size > largest:
                    raise self._refused(
                        1, "file", f"one document over {largest:,} bytes", "one JSON object a line"
                    )
        data = b"".join(blocks)
        self.lines_read = data.count(b"\n") + (not data.endswith(b"\n"))
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise self._refused(line, "file", f"byte {data[error.start]:#04x}", "UTF-8") from None

    def count_lines(self) -> int:
        """Return how many lines there are. Raises FileRefused for damaged, foreign and overlong files."""
        count, size, last = 0, 0, b"\n"
        with self._open() as stream:
            while block := self._read(stream.read, BLOCK):
                count += block.count(b"\n")
                size += len(block)
                self._check_size(count, size)
                last = block[-1:]
        return count + (last != b"\n")

    def _check_size(self, lines: int, size: int) -> None:
        if size > LARGEST_FILE:
            raise self._refused(lines, "file", f"over {LARGEST_FILE:,} bytes", "a smaller file")
        if lines > MOST_LINES:
            raise self._refused(lines, "file", f"over {MOST_LINES:,} lines", "fewer lines: split the file")

    def _open(self) -> BinaryIO:
        try:
            stream = self.path.open("rb")
        except OSError as error:
            raise self._refused(0, "file", error.strerror or str(error), "a file that can be read") from None
        head = stream.read(4)
        stream.seek(0)
        for magic, kind in NOT_TEXT.items():
            if head.startswith(magic):
                stream.close()
                expected = "text in UTF-8, such as JSONL or CSV, plain or gzip"
                if magic == OLD_EXCEL:
                    expected = "a workbook saved as .xlsx without a password, or a CSV file"
                raise self._refused(1, "file", kind, expected)
        if head.startswith(GZIP_MAGIC):
            return cast(BinaryIO, _Unzipped(stream))
        return stream

    def _read(self, read: Callable[[int], bytes], size: int, line: int = 1) -> bytes:
        self.watch()
        try:
            return read(size)
        except _DAMAGES as error:
            raise self._damaged(error, line) from None

    def _damaged(self, error: Exception, line: int) -> FileRefused:
        return self._refused(line, "file", f"damaged: {error}", "a whole gzip file")

    def _skip_rest(self, stream: BinaryIO, data: bytes, number: int) -> int:
        skipped = 0
        while data and not data.endswith(b"\n"):
            data = self._read(stream.readline, LONGEST_LINE + 1, number + 1)
            skipped += len(data)
            self._check_size(number, skipped)
        return skipped

    def _decode(self, data: bytes, number: int) -> str | Problem:
        if b"\x00" in data:
            return self._problem(number, f"a NUL byte at byte {data.index(0) + 1}", "text without NUL")
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            found = f"byte {data[error.start]:#04x} at byte {error.start + 1} of the line"
            return self._problem(number, found, "UTF-8")
        if number == 1:
            text = text.removeprefix("\ufeff")
        return text.removesuffix("\n")

    def _problem(self, line: int, found: str, expected: str) -> Problem:
        return Problem(self.name, line, "line", found, expected)

    def _refused(self, line: int, field: str, found: str, expected: str) -> FileRefused:
        return FileRefused.because(self.name, line, field, found, expected)


class _Unzipped(gzip.GzipFile):
    """A gzip reader that closes the file below it."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(fileobj=stream, mode="rb")
        self._below = stream

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._below.close()


def unstorable(text: str) -> str | None:
    """Return why a database cannot hold this text: a NUL or half a surrogate pair; None if it can."""
    return "a NUL character" if "\x00" in text else half_a_pair(text)


def half_a_pair(text: str) -> str | None:
    """Return which half of a surrogate pair stands alone in the text, so that it is no text; None if none."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"half a surrogate pair, {shown(text[error.start])}"
    return None
