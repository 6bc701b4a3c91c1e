"""JSON files as rows: one object a line, or one object whose members are the rows."""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from annotation.importers.lines import TextFile
from annotation.importers.records import FileRefused, Problem, Rejected, Row, shown

_SPACE = re.compile(r"[ \t\n\r]*")
_OPENS_A_DOCUMENT = re.compile(r"\s*(\[|\{\s*$)")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} twice in one object")
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name}, which is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)


def json_lines(file: TextFile) -> Iterator[Row | Rejected]:
    """The rows of a file with one JSON object a line; blank lines are skipped.

    Raises FileRefused where the file turns out to be one JSON document over several lines (broken or not),
    and where it has no line at all.
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
            values = _DECODER.decode(line)
        except (ValueError, RecursionError) as error:
            if empty and _OPENS_A_DOCUMENT.match(line):
                _refuse_document(file)
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
    return "JSON nested too deeply" if isinstance(error, RecursionError) else str(error)


def _refuse_document(file: TextFile) -> NoReturn:
    try:
        _DECODER.decode(file.text())
    except json.JSONDecodeError as error:
        raise _malformed(file, error) from None
    except (ValueError, RecursionError) as error:
        raise FileRefused.because(file.name, 1, "file", _what(error), "JSON") from None
    found = "one JSON document over several lines"
    raise FileRefused.because(file.name, 1, "file", found, "one JSON object a line (JSONL)")


def _malformed(file: TextFile, error: json.JSONDecodeError) -> FileRefused:
    found = f"malformed JSON at column {error.colno}: {error.msg}"
    return FileRefused.because(file.name, error.lineno, "file", found, "JSON")


def is_one_object(file: TextFile, members_of_a_row: frozenset[str]) -> bool:
    """Whether the file is one object of rows rather than one row a line.

    It is the latter if its first line is an object with one of `members_of_a_row`.
    """
    for _, line in file.lines():
        if isinstance(line, Problem):
            return True  # a line too long for a row; if it is no text, reading it will say so
        if not line.strip():
            continue
        try:
            first = _DECODER.decode(line)
        except (ValueError, RecursionError):
            return bool(_OPENS_A_DOCUMENT.match(line))
        return not (isinstance(first, dict) and members_of_a_row & first.keys())
    return False


def json_members(file: TextFile) -> Iterator[tuple[str, Row | Rejected]]:
    """The members of a file that is one JSON object of objects, each with its key and first line.

    Raises FileRefused, naming the line, where the file is not well-formed JSON: nothing of it can be trusted.
    """
    text = file.text()
    try:
        yield from _members(file, text)
    except json.JSONDecodeError as error:
        raise _malformed(file, error) from None


def _members(file: TextFile, text: str) -> Iterator[tuple[str, Row | Rejected]]:
    position = _expect(text, _skip(text, 0), "{")
    line, counted, keys = 1, 0, set()
    position = _skip(text, position)
    while text[position : position + 1] != "}":
        line += text.count("\n", counted, position)
        counted = position
        if text[position : position + 1] != '"':
            raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, position)
        try:
            key, position = _DECODER.raw_decode(text, position)
            position = _expect(text, _skip(text, position), ":")
            value, position = _DECODER.raw_decode(text, _skip(text, position))
        except json.JSONDecodeError:
            raise
        except (ValueError, RecursionError) as error:
            raise FileRefused.because(file.name, line, "file", _what(error), "JSON") from None
        if key in keys:
            found = f"the key {key!r} twice in one object"
            raise FileRefused.because(file.name, line, "file", found, "JSON")
        keys.add(key)
        if isinstance(value, dict):
            yield key, Row(file.name, line, value)
        else:
            problem = Problem(file.name, line, shown(key), shown(value), "an object")
            yield key, Rejected(file.name, line, value, (problem,))
        position = _skip(text, position)
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
            if text[position : position + 1] == "}":
                raise json.JSONDecodeError("Illegal trailing comma before end of object", text, position)
        elif text[position : position + 1] != "}":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, position)
    end = _skip(text, position + 1)
    if end != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    if not keys:
        raise FileRefused.because(file.name, 1, "file", "an empty object", "an object of articles")


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _expect(text: str, position: int, character: str) -> int:
    if text[position : position + 1] != character:
        raise json.JSONDecodeError(f"Expecting '{character}'", text, position)
    return position + 1
