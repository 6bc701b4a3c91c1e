"""JSON files as rows: one object a line, or one array or object whose members are the rows."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NoReturn

from annotation.imports.reading.kinds import require_no_table
from annotation.imports.reading.lines import TextFile
from annotation.imports.reading.records import FileRefused, Problem, Rejected, Row, shown
from annotation.imports.reading.tables import header_line
from annotation.texts.nested_json import MOST_LEVELS, TOO_DEEP, check_levels

MOST_KEYS = 10_000  # in one object
LARGEST_EXPLAINED = 64 * 1024 * 1024  # bytes of a document that is parsed to explain its fault

_DOCUMENTS = {"{": ("}", "object", "an object of articles"), "[": ("]", "array", "an array of objects")}
"""Opening character -> the closing one, the kind of JSON, and what a document of it needs."""
_SPACE = re.compile(r"[ \t\n\r]*")
_OPENS_A_DOCUMENT = re.compile(r"\s*(\[|\{\s*$)")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MOST_KEYS:
        raise ValueError(f"an object with {len(pairs):,} keys, over the limit of {MOST_KEYS:,}")
    members = dict(pairs)
    if len(members) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {shown(twice)} twice in one object")
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name}, which is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)


def _decoded(text: str) -> Any:
    value = _DECODER.decode(text)
    _check_levels(value, text, 0, len(text))
    return value


def _check_levels(value: object, text: str, start: int, end: int) -> None:
    """Raise ValueError if the value of `text[start:end]` is nested too deeply."""
    if text.count("[", start, end) + text.count("{", start, end) > MOST_LEVELS:
        check_levels(value)


def json_lines(file: TextFile) -> Iterator[Row | Rejected]:
    """Yield the rows of a file with one JSON object per line. Blank lines are skipped.

    Raises FileRefused if the file is empty, one JSON document over several lines (valid or not), or seems
    to be a table.
    """
    empty = True
    for number, line in file.lines():
        if isinstance(line, Problem):
            empty = False
            yield Rejected(file.name, number, None, (line,))
            continue
        if not line.strip():
            continue
        try:
            values = _decoded(line)
        except (ValueError, RecursionError) as error:
            if empty and _OPENS_A_DOCUMENT.match(line):
                _refuse_document(file)
            if empty:
                require_no_table(file)
            problem = Problem(file.name, number, "line", _what(error), "one JSON object")
            yield Rejected(file.name, number, line, (problem,))
        else:
            if isinstance(values, dict):
                yield Row(file.name, number, values)
            else:
                problem = Problem(file.name, number, "line", shown(values), "one JSON object")
                yield Rejected(file.name, number, line, (problem,))
        empty = False
    if empty:
        raise FileRefused.because(file.name, 1, "file", "no line", "one JSON object a line")


def _what(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"malformed JSON at column {error.colno}: {error.msg}"
    return TOO_DEEP if isinstance(error, RecursionError) else str(error)


def _refuse_document(file: TextFile) -> NoReturn:
    try:
        _decoded(file.text(LARGEST_EXPLAINED))
    except (ValueError, RecursionError) as error:
        raise _not_json(file, error) from None
    found = "one JSON document over several lines"
    raise FileRefused.because(file.name, 1, "file", found, "one JSON object a line (JSONL)")


def _not_json(file: TextFile, error: Exception, line: int = 1) -> FileRefused:
    return FileRefused.because(file.name, getattr(error, "lineno", line), "file", _what(error), "JSON")


def is_one_object(file: TextFile, members_of_a_row: frozenset[str]) -> bool:
    """Return whether the file is one object of rows, not one row per line.

    In the latter case its first line is an object with one of `members_of_a_row`.
    """
    for _, line in file.lines():
        if isinstance(line, Problem):
            return True  # a line too long for a row; if it is no text, reading it will say so
        if not line.strip():
            continue
        try:
            first = json.loads(line)  # with as many keys as there are rows
        except (ValueError, RecursionError):
            return bool(_OPENS_A_DOCUMENT.match(line))
        return not (isinstance(first, dict) and members_of_a_row & first.keys())
    return False


def json_rows(file: TextFile) -> Iterator[Row | Rejected]:
    """Yield the rows of a file that is one JSON array of objects, or has one object per line.

    Raises FileRefused as `json_lines` and `json_members` do.
    """
    if header_line(file).lstrip().startswith("["):
        yield from (row for _, row in _document(file, "["))
    else:
        yield from json_lines(file)


def json_members(file: TextFile) -> Iterator[tuple[str, Row | Rejected]]:
    """Yield the members of a file that is one JSON object of objects, each with its key and first line.

    Raises FileRefused with the line if the file is not well-formed JSON.
    """
    return _document(file, "{")


def _document(file: TextFile, opening: str) -> Iterator[tuple[str, Row | Rejected]]:
    text = file.text()
    try:
        yield from _members(file, text, opening)
    except json.JSONDecodeError as error:
        raise _not_json(file, error) from None


def _members(file: TextFile, text: str, opening: str) -> Iterator[tuple[str, Row | Rejected]]:
    closing, kind, needed = _DOCUMENTS[opening]
    position = _expect(text, _skip(text, 0), opening)
    line, counted, empty = 1, 0, True
    key, keys = "", set()
    position = _skip(text, position)
    while text[position : position + 1] != closing:
        file.watch()
        empty = False
        line += text.count("\n", counted, position)
        counted = position
        if opening == "{" and text[position : position + 1] != '"':
            raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, position)
        try:
            if opening == "{":
                key, position = _DECODER.raw_decode(text, position)
                position = _expect(text, _skip(text, position), ":")
            start = _skip(text, position)
            value, position = _DECODER.raw_decode(text, start)
            _check_levels(value, text, start, position)
        except json.JSONDecodeError:
            raise
        except (ValueError, RecursionError) as error:
            raise _not_json(file, error, line) from None
        if key in keys:
            found = f"the key {shown(key)} twice in one object"
            raise FileRefused.because(file.name, line, "file", found, "JSON")
        if opening == "{":
            keys.add(key)
        if isinstance(value, dict):
            yield key, Row(file.name, line, value)
        else:
            field = shown(key) if opening == "{" else "line"
            problem = Problem(file.name, line, field, shown(value), "an object")
            yield key, Rejected(file.name, line, value, (problem,))
        position = _skip(text, position)
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
            if text[position : position + 1] == closing:
                raise json.JSONDecodeError(f"Illegal trailing comma before end of {kind}", text, position)
        elif text[position : position + 1] != closing:
            raise json.JSONDecodeError("Expecting ',' delimiter", text, position)
    end = _skip(text, position + 1)
    if end != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    if empty:
        raise FileRefused.because(file.name, 1, "file", f"an empty {kind}", needed)


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _expect(text: str, position: int, character: str) -> int:
    if text[position : position + 1] != character:
        raise json.JSONDecodeError(f"Expecting '{character}'", text, position)
    return position + 1
