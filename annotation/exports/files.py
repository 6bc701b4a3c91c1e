"""Rows as the bytes of a file, in chunks."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from annotation.database.portions import portions
from annotation.texts.spreadsheet import plain_row

ROWS_IN_A_CHUNK = 500


def csv_chunks(header: Sequence[str], rows: Iterable[Iterable[object]]) -> Iterator[bytes]:
    """Yield a CSV file (RFC 4180). Texts that a spreadsheet would run as formulas are escaped."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(plain_row(header))
    for portion in portions(rows, ROWS_IN_A_CHUNK):
        writer.writerows(map(plain_row, portion))
        yield _taken(text)
    yield _taken(text)


def tsv_chunks(
    header: Sequence[str], rows: Iterable[Iterable[object]], *, escape_formulas: bool = True
) -> Iterator[bytes]:
    """Yield a table separated by tabs with CSV quoting and a line feed after each row.

    `escape_formulas=False` is for a published layout, whose readers expect every text as it was written and
    would not remove the apostrophe. The format's description must warn against spreadsheets.
    """
    line = io.StringIO(newline="")
    writer = csv.writer(line, delimiter="\t")  # which quotes \r only because its own line end has one

    def written(row: Iterable[object]) -> bytes:
        writer.writerow(plain_row(row) if escape_formulas else row)
        return _taken(line).removesuffix(b"\r\n") + b"\n"

    yield written(header)
    for portion in portions(rows, ROWS_IN_A_CHUNK):
        yield b"".join(map(written, portion))


def jsonl_chunks(rows: Iterable[Mapping[str, object]]) -> Iterator[bytes]:
    """Yield one JSON object a line."""
    for portion in portions(rows, ROWS_IN_A_CHUNK):
        yield "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in portion).encode()


def utc(moment: datetime) -> str:
    """Return a time as files have it: ISO 8601 in UTC."""
    return moment.astimezone(UTC).isoformat()


def _taken(text: io.StringIO) -> bytes:
    """Return what was written, and empty the buffer."""
    written = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return written
