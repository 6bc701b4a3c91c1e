"""Excel workbooks (.xlsx) as tables: the rows of one sheet, with limits.

Each part of a workbook is checked before openpyxl reads it, because openpyxl holds whole rows and some whole
parts in memory.
"""

import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, time
from functools import cached_property
from io import FileIO
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

from openpyxl import load_workbook
from openpyxl.utils import get_column_letter
from openpyxl.utils.cell import coordinate_to_tuple
from openpyxl.xml.constants import SHEET_MAIN_NS

from annotation.imports.reading.fields import number_text
from annotation.imports.reading.kinds import OtherKind
from annotation.imports.reading.lines import BLOCK, LONGEST_LINE, TextFile
from annotation.imports.reading.records import FileRefused, Problem, Rejected, listed, shown

LARGEST_WORKBOOK = 512 * 1024 * 1024  # bytes of all parts after unpacking
MOST_PARTS = 10_000
MOST_ROWS = 1_048_576  # of a sheet, as in Excel
MOST_TEXTS = 4_000_000  # in the table of texts that the sheets share
MOST_HELD = 1_000_000  # XML elements and attributes that are in memory together
LONGEST_FAULT = 200  # characters of an error of zipfile or openpyxl, which may quote the whole part
MOST_READINGS = 3  # of a part by openpyxl
SPREADSHEET = "an Excel workbook (.xlsx) as a spreadsheet program saves it, without a password"
UNSAVED = "a value: open the workbook in a spreadsheet program and save it"

warnings.filterwarnings("ignore", module=r"openpyxl\.")  # on styles and the like, which are not read

_DAMAGES = (
    *(ArithmeticError, AttributeError, EOFError, LookupError, OSError, RuntimeError, SyntaxError),
    *(TypeError, ValueError, zipfile.BadZipFile, zlib.error),
)
"""Errors that zipfile and openpyxl raise for damaged workbooks."""
_ESCAPED = re.compile("_x(000D|005F)_")
"""A carriage return, and the underscore of a text that looks like an escaped character."""
_ROW, _CELL, _FORMULA, _VALUE, _INLINE, _TEXT = (
    f"{SHEET_MAIN_NS}}}{name}" for name in ("row", "c", "f", "v", "is", "si")
)


@dataclass
class _Part:
    """The properties of one part, which may be a sheet."""

    rows: int = 0
    """The number of the last row."""
    has_cells: bool = False
    uncalculated: dict[int, int] = field(default_factory=dict)
    """The first column of each row that has a formula without its value."""


@dataclass(frozen=True)
class _Sheet:
    name: str
    part: _Part


class WorkbookFile(TextFile):
    """A workbook to import, of which the sheet `sheet` is read, or else the first with cells."""

    def __init__(self, path: Path, name: str = "", sheet: str = "") -> None:
        super().__init__(path, name)
        self._wanted = sheet

    def count_lines(self) -> int:
        """Return the number of the sheet's last row. Raises FileRefused."""
        return self._sheet.part.rows

    def records(self) -> Iterator[tuple[int, list[str] | Rejected]]:
        """Yield the rows with cells, header included, each with its number and as long as the header.

        A row with further cells is longer. Raises FileRefused for damaged and too large workbooks.
        """
        sheet = self._sheet
        header: list[str] = []
        with self._open_workbook() as workbook:
            for number, cells in self._rows(workbook[sheet.name]):
                self.watch()
                self.lines_read = number
                texts = [_text(cell.value) for cell in cells]
                while texts and not texts[-1]:
                    texts.pop()
                uncalculated = sheet.part.uncalculated.get(number)
                if not texts and uncalculated is None:
                    continue
                problems = list(self._problems(number, cells, header, uncalculated))
                texts += [""] * (len(header) - len(texts))
                header = header or texts
                if problems:
                    row = dict(zip(header, texts, strict=False))
                    yield number, Rejected(self.name, number, row, tuple(problems))
                else:
                    yield number, texts

    def _open(self) -> NoReturn:
        """Raise OtherKind, because only tables can be read from a workbook."""
        _, header = next(self.records(), (0, None))
        problem = Problem(self.name, 1, "file", "an Excel workbook", "text in UTF-8, such as JSONL")
        raise OtherKind("table", header if isinstance(header, list) else (), problem)

    def _problems(
        self, number: int, cells: Sequence[Any], header: Sequence[str], uncalculated: int | None
    ) -> Iterator[Problem]:
        for column, cell in enumerate(cells, start=1):
            name = _column_name(header, column)
            if cell.data_type == "e":
                found = f"the error {shown(cell.value)}"
                yield Problem(self.name, number, name, found, "a value: correct the cell")
            elif isinstance(cell.value, str) and len(cell.value) > LONGEST_LINE:
                yield Problem(self.name, number, name, f"over {LONGEST_LINE:,} characters", "a shorter text")
        if uncalculated is not None:
            name = _column_name(header, uncalculated)
            yield Problem(self.name, number, name, "a formula without a stored value", UNSAVED)

    def _rows(self, sheet: Any) -> Iterator[tuple[int, Sequence[Any]]]:
        sheet.reset_dimensions()  # they may be wrong
        rows = enumerate(sheet.iter_rows(), start=1)
        while True:
            try:
                row = next(rows, None)
            except _DAMAGES as error:
                raise self._broken(error, self.lines_read + 1) from None
            if row is None:
                return
            yield row

    @cached_property
    def _sheet(self) -> _Sheet:
        parts = self._checked_parts()
        with self._open_workbook() as workbook:
            sheets = [
                _Sheet(sheet.title, parts.get(sheet._worksheet_path, _Part()))
                for sheet in workbook.worksheets
            ]
        names = [sheet.name for sheet in sheets]
        if self._wanted:
            if self._wanted not in names:
                raise self._refused(1, "sheet", shown(self._wanted), f"one of {listed(names)}")
            return sheets[names.index(self._wanted)]
        filled = [sheet for sheet in sheets if sheet.part.has_cells]
        if not filled:
            raise self._refused(1, "file", "a workbook without cells", "a sheet with a header row")
        if len(filled) > 1:
            others = listed([sheet.name for sheet in filled[1:]])
            self.notes = [
                f"The workbook has {len(filled)} sheets with cells, and {filled[0].name!r} was read. To read "
                f"another one, name it (on the command line: --sheet): {others}."
            ]
        return filled[0]

    def _checked_parts(self) -> dict[str, _Part]:
        """Return the parts by name. Raises FileRefused for zip archives that openpyxl must not read."""
        try:
            with self._open_packed() as stream, zipfile.ZipFile(stream) as archive:
                parts = archive.infolist()
                if not any(part.filename.startswith("xl/workbook.") for part in parts):
                    raise self._refused(1, "file", "a zip archive without an Excel workbook", SPREADSHEET)
                if len(parts) > MOST_PARTS:
                    raise self._refused(1, "file", f"{len(parts):,} parts", f"at most {MOST_PARTS:,}")
                # zipfile unpacks no part beyond its size in the directory, and no more than is read
                if sum(part.file_size for part in parts) > LARGEST_WORKBOOK:
                    self._refuse_size()
                if any(
                    part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for part in parts
                ):
                    raise self._refused(1, "file", "another compression than Deflate", SPREADSHEET)
                return {part.filename: self._checked(archive, part) for part in parts}
        except _DAMAGES as error:
            raise self._broken(error) from None

    def _checked(self, archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> _Part:
        check = _PartCheck(self, part.filename)
        unpacked = 0
        with archive.open(part) as stream:
            while block := stream.read(BLOCK):
                unpacked += len(block)
                try:
                    check.parser.Parse(block)
                except expat.ExpatError:  # an image, or something that openpyxl refuses
                    break
                if unpacked - check.parser.CurrentByteIndex > LONGEST_LINE:
                    self._refuse_size()
        check.end_cell()
        return check.part

    @contextmanager
    def _open_workbook(self) -> Iterator[Any]:
        with self._open_packed() as stream:
            try:
                workbook = load_workbook(stream, read_only=True, data_only=True, keep_links=False)
            except _DAMAGES as error:
                raise self._broken(error) from None
            try:
                yield workbook
            finally:
                workbook.close()

    def _open_packed(self) -> "_Packed":
        try:
            return _Packed(self)
        except OSError as error:
            raise self._broken(error) from None

    def _broken(self, error: Exception, line: int = 1) -> FileRefused:
        why = str(error).partition("\n")[0][:LONGEST_FAULT]
        return self._refused(line, "file", f"damaged: {why}", SPREADSHEET)

    def _refuse_size(self) -> NoReturn:
        largest = f"{LARGEST_WORKBOOK // 1024**2} MiB"
        expected = "a smaller workbook, or a CSV file"
        raise self._refused(
            1, "file", f"a workbook that unpacks to over {largest} or to huge parts", expected
        )


class _Packed(FileIO):
    """The bytes of a workbook, for a few readings only: many sheets may name the same part."""

    def __init__(self, file: TextFile) -> None:
        super().__init__(file.path)
        self._watch = file.watch
        self._left = MOST_READINGS * file.path.stat().st_size + BLOCK

    def read(self, size: int | None = -1) -> bytes:
        self._watch()
        found = super().read(-1 if size is None else size) or b""
        self._left -= len(found)
        if self._left < 0:
            raise OSError("several sheets share one part")
        return found


class _PartCheck:
    """Checks the XML of one part while it is parsed."""

    def __init__(self, file: WorkbookFile, name: str) -> None:
        self.part = _Part()
        self._file = file
        self._held = self._rows = self._texts = 0
        self._column = 0
        self._awaits_value = self._is_text = False
        self.parser = expat.ParserCreate(namespace_separator="}")
        self.parser.StartElementHandler = self._start
        if not name.lower().endswith(".svg"):
            self.parser.StartDoctypeDeclHandler = self._refuse_doctype

    def _refuse_doctype(self, *_: object) -> NoReturn:
        raise self._file._refused(1, "file", "an XML document type in a workbook", SPREADSHEET)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._held += 1 + len(attributes)
        if self._held > MOST_HELD:
            self._file._refuse_size()
        if name == _CELL:
            self.end_cell()
            place = attributes.get("r")
            self._column = coordinate_to_tuple(place)[1] if place else self._column + 1
            self._is_text = attributes.get("t") == "str"
        elif name in (_VALUE, _INLINE):
            self.part.has_cells = True
            if self._is_text:  # it may be empty
                self._awaits_value = False
            elif self._awaits_value:
                self.parser.CharacterDataHandler = self._read_value
        elif name == _FORMULA:
            self._awaits_value = True
        elif name == _ROW:
            self._row(attributes.get("r"))
        elif name == _TEXT:
            self._held = 0
            self._texts += 1
            if self._texts > MOST_TEXTS:
                self._file._refuse_size()

    def _read_value(self, text: str) -> None:
        if text.strip():
            self._awaits_value = False

    def end_cell(self) -> None:
        if self._awaits_value:
            self.part.has_cells = True
            self.part.uncalculated.setdefault(self.part.rows, self._column)
            self.parser.CharacterDataHandler = None
        self._awaits_value = False

    def _row(self, given: str | None) -> None:
        self.end_cell()
        self._held = self._column = 0
        last, self.part.rows = self.part.rows, int(given) if given else self.part.rows + 1
        if self.part.rows > MOST_ROWS:
            found = f"row {self.part.rows:,}"
            raise self._file._refused(last, "file", found, f"at most {MOST_ROWS:,} rows in a sheet")
        if self.part.rows <= last:
            raise ValueError(f"row {self.part.rows:,} follows row {last:,}")


def _column_name(header: Sequence[str], column: int) -> str:
    """Return the name of a column, counted from 1, for messages."""
    return (header[column - 1] if column <= len(header) else "") or f"column {get_column_letter(column)}"


def _text(value: object) -> str:
    """Return the value of a cell as CSV files have it."""
    if isinstance(value, str):
        return _ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    return "" if value is None else str(value)
