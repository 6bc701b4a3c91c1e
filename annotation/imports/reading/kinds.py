"""Telling tables from JSON by a file's content, and refusing one where the other is needed."""

import re
from collections.abc import Collection
from itertools import islice
from typing import Literal, NoReturn

from annotation.imports.reading.lines import TextFile
from annotation.imports.reading.records import FileRefused, Problem
from annotation.texts.nested_json import read_json

Kind = Literal["table", "JSON"]
TAB = "\t"
_QUOTED = re.compile(r'"[^"]*"')


class OtherKind(FileRefused):
    """The file seems to be of another kind than the format reads.

    `names` are the columns of the table, or the fields of the first JSON object.
    """

    def __init__(self, kind: Kind, names: Collection[str], problem: Problem) -> None:
        super().__init__([problem])
        self.kind = kind
        self.names = frozenset(names)


def opens_json(line: str) -> bool:
    """Return whether a file whose first line this is seems to be JSON."""
    return line.lstrip().startswith(("{", "["))


def delimiter_of(header: str) -> str:
    """Return the character between the columns of a header: a tab, a semicolon or a comma."""
    if TAB in header:
        return TAB
    marks = _QUOTED.sub("", header)
    return ";" if marks.count(";") > marks.count(",") else ","


def require_no_table(file: TextFile) -> None:
    """Raise OtherKind if the first two lines seem to be those of a table.

    A malformed first line above a line of JSON makes no table.
    """
    first = list(islice((line for _, line in file.lines() if isinstance(line, str) and line.strip()), 2))
    header = first[0] if first else ""
    if any(map(opens_json, first)) or not any(mark in header for mark in "\t,;"):
        return
    delimiter = delimiter_of(header)
    columns = [name.strip(' "') for name in header.split(delimiter)]
    found = f"what seems to be a {'TSV' if delimiter == TAB else 'CSV'} file"
    raise OtherKind("table", columns, Problem(file.name, 1, "file", found, "one JSON object a line (JSONL)"))


def refuse_json(file: TextFile, first_line: str) -> NoReturn:
    """Raise OtherKind for JSON in place of a table."""
    try:
        value = read_json(first_line)
    except ValueError:
        value = None
    expected = "a table with a header line (CSV, TSV or XLSX)"
    problem = Problem(file.name, 1, "file", "what seems to be JSON", expected)
    raise OtherKind("JSON", value if isinstance(value, dict) else (), problem)
