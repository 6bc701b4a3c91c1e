"""Damaged files for import tests: valid files that are changed at random, repeatable by a seed."""

import csv
import gzip
import io
import json
import unicodedata
import zipfile
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from random import Random
from typing import Any

from openpyxl import load_workbook
from openpyxl.utils.exceptions import IllegalCharacterError

LONG = 100_000  # characters of a long cell
BOMB = 24 * 1024 * 1024  # bytes that a small file unpacks to

TEXTS = (
    *(
        "",
        " ",
        "\u00a0",
        "\x00",
        "\ud800",
        "\ufeff",
        "\u2028",
        "\u202e",
        "a\rb",
        "a\nb",
        '"',
        '""',
        "'",
        ";",
        ",",
    ),
    *("NaN", "-inf", "1e999", "-0", "0x10", "١", "½", "9" * 400, "9" * 5000, "4.0", "5", "7", "-1", "NULL"),
    *("yes", "Yes ", "JA", "true", "e\u0301", "\u00e9", "ß", "İ", "𝕏" * 300, "x" * 130, " " * 300 + "x"),
    *("=1+1", "+cmd", "@x", "{}", "[]", '{"a": 1}', "../../x", "<b>", "%s", "a/b", "a/b/c", "reference-1"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2024-02-30", "2024-05-17T09:30:00+24:00"),
    *("de", "en-US", "xx-" + "y" * 20, "removed", "training", "2", "10000", "x" * LONG),
)
RAW_JSON = (
    *(
        "NaN",
        "-Infinity",
        "1e999",
        "9" * 400,
        "9" * 5000,
        "-1e61",
        "1e-400",
        "4.5",
        "0",
        "-1",
        "true",
        "null",
    ),
    *(
        "[]",
        "{}",
        '""',
        "[null]",
        "[[]]",
        '{"": ""}',
        '{"a": {"a": 1}}',
        '"\\ud800"',
        '"\\u0000"',
        '{"a":1,"a":2}',
    ),
    *(
        "[" * 90 + "]" * 90,
        "[" * 120 + "]" * 120,
        "[" * 200_000,
        '{"a":' * 150 + "1" + "}" * 150,
        "'x'",
        "undefined",
    ),
    '{"\\ud800": 1, "\\u0000": "x", " ": 2}',
    "[" + ",".join(['"x"'] * 1001) + "]",
    "{" + ",".join(f'"k{number}": {number}' for number in range(10_001)) + "}",
)
CELLS: tuple[Any, ...] = (
    *(
        "=1+1",
        "=A1",
        "#N/A",
        True,
        False,
        4.0,
        4.5,
        1e300,
        -0.0,
        10**20,
        None,
        "",
        " ",
        "_x000D_",
        "_x005F_x000D_",
    ),
    *(date(2024, 5, 17), datetime(2024, 5, 17, 9, 30), time(9, 30), timedelta(days=2, hours=3), "x" * 32_767),
    *("yes", "No ", "5", "e\u0301", "\u00a0", "9" * 400),
)
BYTES = (
    *(
        b"\x00",
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b'"',
        b"'",
        b"\\",
        b"\t",
        b",",
        b";",
        b"\r",
    ),
    *(b"\n", b"\r\n", b"{", b"}", b"[", b"]", b":", b"\xe2\x80\xa8", b"\x1a", b"\x1f\x8b", b"PK\x03\x04"),
)
HEADS = (
    b"\xff\xfe",
    b"\xfe\xff",
    b"\xef\xbb\xbf",
    b"\x1f\x8b",
    b"PK\x03\x04",
    b"PAR1",
    b"%PDF",
    b"\n\n",
    b"\xd0\xcf\x11\xe0",
)
ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1", "cp1252")

Mutation = Callable[[bytes, Random], bytes]


def mutated(data: bytes, chance: Random) -> bytes:
    """Return the file with one to three changes, of its bytes or of its contents."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        data = chance.choice(_mutations(data, chance))(data, chance)
    return data


def mutated_text(text: str, chance: Random) -> str:
    """Return another text: one that fits nowhere, or one that reads like the old one."""
    alike = (
        *(f"{text} ", f"\u00a0{text}", text.upper(), text.casefold(), text * 2, text[:-1], f"{text}/x"),
        *(unicodedata.normalize("NFD", text), unicodedata.normalize("NFKC", text)),
    )
    return chance.choice(alike) if chance.random() < 0.3 else chance.choice(TEXTS)


def _mutations(data: bytes, chance: Random) -> tuple[Mutation, ...]:
    if chance.random() < 0.35:
        return _ANY
    if data.startswith(b"PK"):
        return _OF_WORKBOOKS
    return _OF_JSON if data.lstrip().startswith((b"{", b"[")) else _OF_TABLES


# Bytes


def _flip(data: bytes, chance: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 4, 40)) if data else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(data: bytes, chance: Random) -> bytes:
    return data[: chance.randint(0, len(data))]


def _cut_out(data: bytes, chance: Random) -> bytes:
    start = chance.randint(0, len(data))
    return data[:start] + data[start + chance.choice((1, 2, 10, 1000)) :]


def _insert(data: bytes, chance: Random) -> bytes:
    place = chance.randint(0, len(data))
    return data[:place] + chance.choice(BYTES) + data[place:]


def _head(data: bytes, chance: Random) -> bytes:
    return chance.choice(HEADS) + data


def _encoded(data: bytes, chance: Random) -> bytes:
    return data.decode(errors="replace").encode(chance.choice(ENCODINGS), errors="replace")


def _line_ends(data: bytes, chance: Random) -> bytes:
    ends = chance.choices(
        (b"\n", b"\r\n", b"\r", b"\n\n", b"\n\r", b"\x0b", b""), weights=(4, 4, 1, 1, 1, 1, 1), k=9
    )
    return b"".join(line + chance.choice(ends) for line in data.split(b"\n"))


def _lines(data: bytes, chance: Random) -> bytes:
    lines = data.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            del lines[one]
        case 1:
            lines.insert(other, lines[one])
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
        case 3:
            lines[one] = lines[one][: chance.randint(0, len(lines[one]))]
        case _:
            lines[one] *= 2
    return b"\n".join(lines)


def _long_line(data: bytes, chance: Random) -> bytes:
    place = chance.randint(0, len(data))
    size = 11 * 1024 * 1024 if chance.random() < 0.05 else LONG
    return data[:place] + chance.choice((b"x", b"[", b'"', b",", b" ", b"\t", b"9")) * size + data[place:]


def _nothing(_: bytes, chance: Random) -> bytes:
    return chance.choice(
        (b"", b"\n", b" ", b"\r\n\r\n", b"\xef\xbb\xbf", b"{}", b"[]", b"null", b"\x00", b"[{}]")
    )


def _twice(data: bytes, _: Random) -> bytes:
    return data + data


def _gzipped(data: bytes, chance: Random) -> bytes:
    packed = gzip.compress(data, mtime=0)
    match chance.randrange(7):
        case 0:
            return _cut(packed, chance)
        case 1:
            return _flip(packed, chance)
        case 2:
            return packed + packed
        case 3:
            return packed + b"left over"
        case 4:
            return gzip.compress(packed, mtime=0)
        case 5 if chance.random() < 0.1:
            return gzip.compress(data + chance.choice((b"\n", b"x", b"\x00")) * BOMB, 1, mtime=0)
    return packed


_ANY = (
    *(_flip, _flip, _cut, _cut, _cut_out, _insert, _insert, _head, _encoded, _line_ends, _lines, _lines),
    *(_long_line, _nothing, _twice, _gzipped, _gzipped),
)

# Tables


def _of_rows(change: Callable[[list[list[str]], Random], None]) -> Mutation:
    def mutation(data: bytes, chance: Random) -> bytes:
        text = data.decode(errors="surrogateescape")
        delimiter = next((mark for mark in "\t;" if mark in text.partition("\n")[0]), ",")
        try:
            rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        except csv.Error:
            return data
        if not rows or not rows[0]:
            return data
        change(rows, chance)
        written = io.StringIO(newline="")
        quoting = chance.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
        csv.writer(written, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerows(rows)
        return written.getvalue().encode(errors="surrogatepass")

    return mutation


def _cell(rows: list[list[str]], chance: Random) -> None:
    for _ in range(chance.choice((1, 1, 3))):
        row = chance.choice(rows[1:] or rows)
        if row:
            place = chance.randrange(len(row))
            row[place] = mutated_text(row[place], chance)


def _whole_column(rows: list[list[str]], chance: Random) -> None:
    column, text = chance.randrange(len(rows[0])), chance.choice(TEXTS)
    for row in rows[1:]:
        if column < len(row):
            row[column] = text


def _columns(rows: list[list[str]], chance: Random) -> None:
    one, other = chance.randrange(len(rows[0])), chance.randrange(len(rows[0]))
    match chance.randrange(6):
        case 0:
            for row in rows:
                del row[one : one + 1]
        case 1:
            rows[0][one] = mutated_text(rows[0][one], chance)
        case 2:
            for row in rows:
                row.insert(other, row[one] if one < len(row) else "")
        case 3:
            rows[0][one] = rows[0][other]
        case 4:
            for row in rows:
                row.extend(["x"] * chance.choice((1, 1, 1, 1100)))
        case _:
            for row in rows[1:]:
                if max(one, other) < len(row):
                    row[one], row[other] = row[other], row[one]


def _ragged(rows: list[list[str]], chance: Random) -> None:
    row = chance.choice(rows)
    if chance.random() < 0.5:
        row.append(chance.choice(TEXTS))
    elif row:
        row.pop()


def _no_header(rows: list[list[str]], _: Random) -> None:
    del rows[0]


def _repeated_row(rows: list[list[str]], chance: Random) -> None:
    again = list(chance.choice(rows))
    if again and chance.random() < 0.7:
        again[chance.randrange(len(again))] = chance.choice(chance.choice(rows) or [""])
    rows.insert(chance.randint(1, len(rows)), again)


_OF_TABLES = tuple(
    _of_rows(each)
    for each in (
        _cell,
        _cell,
        _cell,
        _cell,
        _whole_column,
        _columns,
        _columns,
        _ragged,
        _no_header,
        _repeated_row,
    )
)

# JSON

_PLACE = "RAW-JSON-GOES-HERE"


def _json(data: bytes, chance: Random) -> bytes:
    """Change one value of one line, or of the whole document."""
    lines = data.split(b"\n")
    number = chance.randrange(len(lines))
    for start, whole in ((number, False), (0, True)):
        source = data if whole else lines[start]
        try:
            value = json.loads(source)
        except (ValueError, RecursionError):
            continue
        changed = _changed_json(value, chance)
        if whole:
            return changed
        lines[start] = changed
        return b"\n".join(lines)
    return data


def _changed_json(value: Any, chance: Random) -> bytes:
    raw = chance.choice(RAW_JSON)
    for _ in range(chance.choice((1, 1, 2))):
        inner, key = _place_in(value, chance)
        if inner is None:
            return raw.encode()
        match chance.randrange(8):
            case 0:
                del inner[key]
            case 1 if isinstance(inner, dict):
                inner[mutated_text(key, chance)] = inner.pop(key)
            case 2 if isinstance(inner, dict):
                inner[mutated_text(key, chance)] = inner[key]
            case 3 if isinstance(inner, list):
                inner.insert(0, inner[key])
            case 4 | 5:
                found = inner[key]
                inner[key] = mutated_text(found if isinstance(found, str) else str(found)[:50], chance)
            case _:
                inner[key] = _PLACE
    written = json.dumps(value, ensure_ascii=chance.random() < 0.5)
    return written.replace(f'"{_PLACE}"', raw).encode(errors="surrogatepass")


def _place_in(value: Any, chance: Random) -> tuple[Any, Any]:
    """Return an object or a list within `value`, and a key of it; nothing if it has none."""
    place: tuple[Any, Any] = (None, None)
    while isinstance(value, dict | list) and value:
        key = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
        place = value, key
        value = value[key]
        if chance.random() < 0.25:
            break
    return place


def _as_document(data: bytes, _: Random) -> bytes:
    return b"[" + b",".join(line for line in data.split(b"\n") if line) + b"]"


def _indented(data: bytes, chance: Random) -> bytes:
    try:
        return json.dumps(json.loads(data.split(b"\n")[0] or data), indent=chance.choice((0, 2))).encode()
    except (ValueError, RecursionError):
        return data


_OF_JSON = (*[_json] * 12, _as_document, _indented)

# Workbooks


def _sheet(data: bytes, chance: Random) -> bytes:
    """Change cells of the first sheet, or its layout."""
    try:
        book = load_workbook(io.BytesIO(data))
        sheet = book.worksheets[0]
    except Exception:  # an earlier change has damaged it
        return data
    rows, columns = sheet.max_row, sheet.max_column
    try:
        for _ in range(chance.choice((1, 1, 3))):
            row, column = chance.randint(1, rows), chance.randint(1, columns)
            match chance.randrange(9):
                case 0:
                    sheet.delete_rows(row)
                case 1:
                    sheet.insert_rows(row, chance.choice((1, 3)))
                case 2:
                    sheet.delete_cols(column)
                case 3:
                    sheet.insert_cols(column)
                case 4:
                    sheet.merge_cells(
                        start_row=row, end_row=row + 1, start_column=column, end_column=column + 1
                    )
                case 5:
                    other = book.create_sheet(chance.choice(("Other", "x" * 31)), chance.choice((0, 1)))
                    other["A1"] = chance.choice(CELLS)
                case 6:
                    sheet.cell(rows + 2, columns + 1).value = "far away"
                case _:
                    sheet.cell(row, column).value = chance.choice(CELLS)
    except (AttributeError, IllegalCharacterError):  # a merged cell takes no value
        return data
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def _part(data: bytes, chance: Random) -> bytes:
    """Change the bytes of one part of the archive, or leave it out."""
    written = io.BytesIO()
    try:
        with (
            zipfile.ZipFile(io.BytesIO(data)) as archive,
            zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as new,
        ):
            parts = archive.infolist()
            sheets = [part.filename for part in parts if "sheet" in part.filename] or [""]
            changed = chance.choice(sheets if chance.random() < 0.5 else [part.filename for part in parts])
            for part in parts:
                content = archive.read(part)
                if part.filename == changed:
                    if chance.random() < 0.1:
                        continue
                    content = chance.choice(_OF_PARTS)(content, chance)
                new.writestr(part.filename, content)
    except Exception:  # an earlier change has damaged it
        return data
    return written.getvalue()


def _xml(data: bytes, chance: Random) -> bytes:
    """Write a number, a name or a place of a cell anew, or repeat an element."""
    pieces = data.split(b'"')
    if len(pieces) < 3:
        return data
    place = chance.randrange(1, len(pieces), 2)
    values = (
        b"",
        b"0",
        b"-1",
        b"A0",
        b"XFE1",
        b"ZZZ9",
        b"1048577",
        b"9" * 30,
        b"1e5",
        b"s",
        b"b",
        b"d",
        b"e",
        b"str",
    )
    pieces[place] = chance.choice((*values, b"n", b"inlineStr", b"&#0;", b"../../x", b"\xc3", b"B2:A1", b"x"))
    return b'"'.join(pieces)


def _values(data: bytes, chance: Random) -> bytes:
    pieces = data.split(b"<v>")
    place = chance.randrange(len(pieces))
    value, mark, rest = pieces[place].partition(b"</v>")
    new = (
        b"",
        b"-1",
        b"99999",
        b"1e400",
        b"NaN",
        b"x",
        b"9" * 400,
        b"1.5",
        b"2958466",
        b"-700000",
        b"&#55296;",
        value,
    )
    pieces[place] = chance.choice(new) + mark + rest
    return b"<v>".join(pieces)


def _large_part(data: bytes, chance: Random) -> bytes:
    if chance.random() < 0.9:
        return data
    return data.replace(b"</row>", b" " * BOMB + b"</row>", 1)


_OF_PARTS = (_flip, _cut, _cut_out, _insert, _xml, _xml, _xml, _xml, _values, _values, _large_part, _nothing)
_OF_WORKBOOKS = (_sheet, _sheet, _sheet, _part, _part)
