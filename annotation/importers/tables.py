"""Tables with a header line: fields separated by tabs or commas, with or without CSV quoting."""

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from enum import StrEnum

from annotation.importers.lines import LONGEST_LINE, TextFile
from annotation.importers.records import FileRefused, Problem, Rejected, Row

LONGEST_RECORD = 1000  # lines that one quoted record may span
csv.field_size_limit(LONGEST_LINE)


class Quoting(StrEnum):
    CSV = "csv"
    NONE = "none"


Line = tuple[int, str | Problem]
Record = tuple[int, list[str] | Rejected]


def records(file: TextFile, delimiter: str, quoting: Quoting) -> Iterator[Record]:
    """The records of a file, header included, each with its first line; blank lines are skipped.

    Without quoting a line is a record. With it, a field may be in double quotes, inner quotes doubled, and
    then span lines. A quote that is never closed, or closed in the middle of a field, spoils the line it
    stands on and no other: reading goes on with the next line, so that rows are never merged.
    """
    if quoting == Quoting.CSV:
        yield from _CsvRecords(file, delimiter)
        return
    for number, line in file.lines():
        if isinstance(line, Problem):
            yield number, Rejected(file.name, number, None, (line,))
        elif line.strip(" "):
            yield number, line.split(delimiter)


class _CsvRecords:
    def __init__(self, file: TextFile, delimiter: str) -> None:
        self._file = file
        self._delimiter = delimiter
        self._stream = file.lines()
        self._waiting: deque[Line] = deque()  # read ahead in vain
        self._width = 0

    def __iter__(self) -> Iterator[Record]:
        while (following := self._next()) is not None:
            number, line = following
            if isinstance(line, Problem):
                yield number, Rejected(self._file.name, number, None, (line,))
                continue
            if not line.strip(" "):
                continue
            record = self._quoted(number, line) if '"' in line else line.split(self._delimiter)
            if not self._width and not isinstance(record, Rejected):
                self._width = len(record)
            yield number, record

    def _next(self) -> Line | None:
        return self._waiting.popleft() if self._waiting else next(self._stream, None)

    def _quoted(self, number: int, line: str) -> list[str] | Rejected:
        """The record that begins with `line`."""
        parts = [line]
        ahead: list[Line] = []
        while True:
            try:
                fields = next(csv.reader(["\n".join(parts)], delimiter=self._delimiter, strict=True))
            except csv.Error as error:
                reason = str(error)
            else:
                if len(parts) == 1 or len(fields) == self._width:
                    return fields
                reason = ""
            if "unexpected end" not in reason or not self._read_on(parts, ahead):
                break
        self._waiting.extendleft(reversed(ahead))
        spoilt = reason and "unexpected end" not in reason
        found = reason if spoilt else "a quote that is not closed"
        problem = Problem(self._file.name, number, "line", found, "fields quoted as in CSV, or none")
        return Rejected(self._file.name, number, line, (problem,))

    def _read_on(self, parts: list[str], ahead: list[Line]) -> bool:
        """Add lines up to the next one with a quote; False where none may follow."""
        while len(ahead) < LONGEST_RECORD and sum(map(len, parts)) <= LONGEST_LINE:
            following = self._next()
            if following is None:
                return False
            ahead.append(following)
            line = following[1]
            if isinstance(line, Problem) or self._is_a_row(line):
                return False
            parts.append(line)
            if '"' in line:
                return True
        return False

    def _is_a_row(self, line: str) -> bool:
        """Texts hold commas, but hardly as many tabs as a row of the table."""
        return self._delimiter == "\t" and line.count("\t") + 1 == self._width


def table_rows(
    file: TextFile, delimiter: str, quoting: Quoting, needed: Sequence[str]
) -> Iterator[Row | Rejected]:
    """The rows below the header, by its column names.

    Raises FileRefused where the header is missing, names a column twice or lacks one of `needed`.
    """
    columns: list[str] | None = None
    for number, record in records(file, delimiter, quoting):
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
    if columns is None:
        raise FileRefused.because(file.name, 1, "file", "no line", "a header line")


def _header(file: TextFile, number: int, found: list[str], needed: Sequence[str]) -> list[str]:
    columns = [name.strip() for name in found]
    problems = [
        Problem(file.name, number, name or "header", "this column twice", "column names without repetition")
        for name in dict.fromkeys(columns)
        if columns.count(name) > 1
    ]
    problems += [
        Problem(file.name, number, name, f"no such column among {', '.join(columns)}", "this column")
        for name in needed
        if name not in columns
    ]
    if problems:
        raise FileRefused(problems)
    return columns


def header_line(file: TextFile) -> str:
    """The first line that is not blank. Raises FileRefused where there is none or it is no text."""
    for _, line in file.lines():
        if isinstance(line, Problem):
            raise FileRefused([line])
        if line.strip():
            return line
    raise FileRefused.because(file.name, 1, "file", "no line", "a header line")


def delimiter_of(header: str) -> str:
    return "\t" if "\t" in header else ","
