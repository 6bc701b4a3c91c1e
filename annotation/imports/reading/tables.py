"""Tables with a header line: fields separated by tabs, commas or semicolons, or cells of a workbook."""

import csv
import re
from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence
from enum import Enum, StrEnum, auto
from itertools import islice
from typing import cast

from annotation.imports.reading.kinds import TAB, delimiter_of, opens_json, refuse_json
from annotation.imports.reading.lines import LONGEST_LINE, TextFile
from annotation.imports.reading.records import FileRefused, Problem, Rejected, Row, listed
from annotation.imports.reading.workbooks import WorkbookFile

LONGEST_RECORD = 1000  # lines that one quoted record may span
MOST_COLUMNS = 1000
csv.field_size_limit(LONGEST_LINE)

_QUOTED_TEXT = re.compile(r'(?:[^"]++|"")*+')


class Quoting(StrEnum):
    CSV = "csv"
    NONE = "none"


class MissingColumns(FileRefused):
    """The table lacks columns that are needed."""


Line = tuple[int, str | Problem]
Record = tuple[int, list[str] | Rejected]


def records(file: TextFile, delimiter: str, quoting: Quoting) -> Iterator[Record]:
    """Yield the records of a file, header included, each with its first line; blank lines are skipped.

    Without quoting a line is a record. With it, a field may be in double quotes, inner quotes doubled, and
    then span lines. A quote that is never closed, or closed in the middle of a field, invalidates only its
    own line: reading continues with the next line, so that rows are never merged.
    """
    if quoting == Quoting.CSV:
        yield from _CsvRecords(file, delimiter)
        return
    for number, line in file.lines():
        if isinstance(line, Problem):
            yield number, Rejected(file.name, number, None, (line,))
        elif line.strip(" "):
            yield number, line.split(delimiter)


class _End(Enum):
    """The ways in which a line of a quoted record ends."""

    CLOSED = auto()
    """The record may end here."""
    OPEN = auto()
    """A quoted field continues in the next line."""
    BROKEN = auto()
    """No record has such a line."""


class _CsvRecords:
    """Reads each line ahead only once, since all records that could span it end alike."""

    def __init__(self, file: TextFile, delimiter: str) -> None:
        self._file = file
        self._delimiter = delimiter
        self._stream = file.lines(keep_returns=True)  # a quoted text may hold \r\n
        self._ahead: deque[tuple[Line, int]] = deque()
        """Lines after the current one, each with the fields that end in it if a quote is open before it."""
        self._ahead_fields = 0
        self._ahead_size = 0
        self._ahead_ends = _End.OPEN
        """The end of the last of these lines, if a quote is open before the first."""
        self._width = 0

    def __iter__(self) -> Iterator[Record]:
        while (following := self._next() if self._ahead else next(self._stream, None)) is not None:
            number, line = following
            if not line:
                continue
            if isinstance(line, Problem):
                yield number, Rejected(self._file.name, number, None, (line,))
                continue
            whole = line.removesuffix("\r")
            if not whole.strip(" "):
                continue
            record = self._quoted(number, line) if '"' in line else whole.split(self._delimiter)
            if not self._width and not isinstance(record, Rejected):
                self._width = len(record)
            yield number, record

    def _next(self) -> Line | None:
        if not self._ahead:
            return next(self._stream, None)
        line, fields = self._ahead.popleft()
        self._ahead_fields -= fields
        self._ahead_size -= _size(line)
        if not self._ahead:
            self._ahead_ends = _End.OPEN
        return line

    def _quoted(self, number: int, line: str) -> list[str] | Rejected:
        """Return the record that begins with `line`."""
        whole = line.removesuffix("\r")
        try:
            return self._parse(whole)
        except csv.Error as error:
            found = str(error)
        fields, end = _scan(line, self._delimiter, quoted=False)
        if end is _End.OPEN:
            found = "a quote that is not closed"
            if self._is_completed(fields, len(line)):
                parts = [line]
                while self._ahead and (following := self._next()):
                    parts.append(str(following[1]))
                return self._parse("\n".join(parts).removesuffix("\r"))
        problem = Problem(self._file.name, number, "line", found, "fields quoted as in CSV, or none")
        return Rejected(self._file.name, number, whole, (problem,))

    def _parse(self, text: str) -> list[str]:
        return next(csv.reader([text], delimiter=self._delimiter, strict=True))

    def _is_completed(self, fields: int, size: int) -> bool:
        """Return whether the lines ahead complete a record that has `fields` fields and `size` characters."""
        while (
            self._ahead_ends is _End.OPEN
            and len(self._ahead) < LONGEST_RECORD
            and self._ahead_size <= LONGEST_LINE
            and (following := next(self._stream, None))
        ):
            self._read_ahead(following)
        return (
            self._ahead_ends is _End.CLOSED
            and fields + self._ahead_fields == self._width
            and size + self._ahead_size <= LONGEST_LINE
        )

    def _read_ahead(self, following: Line) -> None:
        fields, self._ahead_ends = 0, _End.BROKEN
        line = following[1]
        if not isinstance(line, Problem) and not self._is_a_row(line):
            fields, self._ahead_ends = _scan(line, self._delimiter, quoted=True)
        self._ahead.append((following, fields))
        self._ahead_fields += fields
        self._ahead_size += _size(following)

    def _is_a_row(self, line: str) -> bool:
        """Return whether a line has as many tabs as a row of the table. Texts rarely have."""
        return self._delimiter == "\t" and line.count("\t") + 1 == self._width


def _size(line: Line) -> int:
    return len(line[1]) + 1 if isinstance(line[1], str) else 0


def _scan(line: str, delimiter: str, *, quoted: bool) -> tuple[int, _End]:
    """Return how many fields end in a line, and how it ends.

    `quoted` says whether it begins inside quotes.
    """
    line = line.rstrip("\r")
    fields = position = 0
    while True:
        if quoted or line.startswith('"', position):
            start = position if quoted else position + 1
            position = cast(re.Match[str], _QUOTED_TEXT.match(line, start)).end()
            quoted = False
            if position == len(line):
                return fields, _End.OPEN
            position += 1
            if position < len(line) and line[position] != delimiter:
                return fields, _End.BROKEN
        else:
            end = line.find(delimiter, position)
            end = len(line) if end < 0 else end
            if "\r" in line[position:end]:
                return fields, _End.BROKEN
            position = end
        fields += 1
        if position == len(line):
            return fields, _End.CLOSED
        position += 1


def table_rows(
    file: TextFile, needed: Sequence[str], quoting: Quoting = Quoting.CSV
) -> Iterator[Row | Rejected]:
    """Yield the rows below the header, by its column names.

    Raises FileRefused where the header is missing, has more than MOST_COLUMNS, names a column twice or lacks
    one of `needed`, and where the file seems to be JSON.
    """
    columns: list[str] | None = None
    delimiter, found_records = _table_records(file, quoting)
    for number, record in found_records:
        if isinstance(record, Rejected):
            if columns is None:
                raise FileRefused(record.problems)
            yield record
        elif columns is None:
            columns = _header(file, number, record, needed)
        elif len(record) != len(columns):
            found = f"{len(record)} field{'s' * (len(record) != 1)}"
            problem = Problem(file.name, number, "line", found, f"{len(columns)} fields, as in the header")
            yield Rejected(file.name, number, delimiter.join(record), (problem,))
        else:
            yield Row(file.name, number, dict(zip(columns, record, strict=True)), storable=True)


def column_names(file: TextFile) -> list[str]:
    """Return the names in the header of a table. Raises FileRefused as `table_rows` does."""
    _, found = _table_records(file, Quoting.CSV)
    for number, record in found:
        if isinstance(record, Rejected):
            raise FileRefused(record.problems)
        return _header(file, number, record, ())
    raise FileRefused.because(file.name, 1, "file", "no line", "a header line")


def is_json(file: TextFile) -> bool:
    """Return whether the file seems to be JSON, not a table. Raises FileRefused as `header_line` does.

    Lines of JSON below a malformed first line are JSON.
    """
    if isinstance(file, WorkbookFile):
        return False
    if opens_json(header_line(file)):
        return True
    first = islice((line for _, line in file.lines() if isinstance(line, str) and line.strip()), 2)
    return any(line.startswith('{"') for line in first)


def _table_records(file: TextFile, quoting: Quoting) -> tuple[str, Iterator[Record]]:
    """Return the delimiter and the records. Raises FileRefused for JSON, and as `header_line` does."""
    if isinstance(file, WorkbookFile):
        return TAB, file.records()
    header = header_line(file)
    if opens_json(header):
        refuse_json(file, header)
    delimiter = delimiter_of(header)
    return delimiter, records(file, delimiter, quoting)


def parts_of(column: str, present: Collection[str]) -> list[str]:
    """Return the columns that `column` names: itself, or several joined by '+' if none is called so."""
    return (
        [column] if column in present or "+" not in column else [each.strip() for each in column.split("+")]
    )


def _header(file: TextFile, number: int, found: list[str], needed: Sequence[str]) -> list[str]:
    if len(found) > MOST_COLUMNS:
        raise FileRefused.because(
            file.name, number, "header", f"{len(found):,} columns", f"at most {MOST_COLUMNS:,} columns"
        )
    columns = [name.strip() for name in found]
    problems = [
        Problem(file.name, number, name or "header", "this column twice", "column names without repetition")
        for name, times in Counter(columns).items()
        if times > 1
    ]
    if problems:
        raise FileRefused(problems)
    parts = dict.fromkeys(part for name in needed for part in parts_of(name, columns))
    missing = [
        Problem(file.name, number, name, f"no such column among {listed(columns)}", "this column")
        for name in parts
        if name not in columns
    ]
    if missing:
        raise MissingColumns(missing)
    return columns


def header_line(file: TextFile) -> str:
    """Return the first line that is not blank. Raises FileRefused where there is none or it is no text."""
    for _, line in file.lines():
        if isinstance(line, Problem):
            raise FileRefused([line])
        if line.strip():
            return line
    raise FileRefused.because(file.name, 1, "file", "no line", "a header line")
