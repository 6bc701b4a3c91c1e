"""Detecting whether a table was written with CSV quoting or with literal quotation marks."""

from annotation.imports.reading.kinds import delimiter_of
from annotation.imports.reading.lines import TextFile
from annotation.imports.reading.records import Problem, Rejected
from annotation.imports.reading.tables import Quoting, header_line, records


def found_quoting(file: TextFile) -> Quoting:
    """Return the convention that fits the file best.

    If a convention breaks rows, the other one fits better. Otherwise count rows that a CSV writer could not
    have written (a quotation mark in an unquoted field, or one that is not doubled) against rows that only a
    CSV writer would write (doubled quotation marks inside quotes). Needlessly quoted fields count for CSV if
    at least half of the rows have them, and against it otherwise. Without quotation marks both are the same.
    """
    header = header_line(file)
    delimiter = delimiter_of(header)
    width = header.count(delimiter) + 1
    csv = plain = rows = quoted_for_nothing = broken = unreadable = 0
    for _, line in file.lines():
        if isinstance(line, Problem):
            unreadable += 1
            continue
        if not line or not line.strip(" "):
            continue
        rows += 1
        fields = line.split(delimiter)
        broken += len(fields) != width
        if '"' not in line:
            continue
        marked = [field for field in fields if '"' in field]
        if not all(_is_quoted(field) for field in marked):
            plain += 1
        elif any('""' in field[1:-1] for field in marked):
            csv += 1
        else:
            quoted_for_nothing += 1
    if quoted_for_nothing * 2 >= rows:
        csv += quoted_for_nothing
    else:
        plain += quoted_for_nothing
    if broken and (csv or plain):
        in_csv = _broken_in_csv(file, delimiter, width)
        in_plain = broken + unreadable
        if in_csv != in_plain:
            return Quoting.CSV if in_csv < in_plain else Quoting.NONE
    return Quoting.CSV if csv > plain else Quoting.NONE


def _is_quoted(field: str) -> bool:
    inner = field[1:-1]
    return len(field) > 1 and field[0] == field[-1] == '"' and '"' not in inner.replace('""', "")


def _broken_in_csv(file: TextFile, delimiter: str, width: int) -> int:
    return sum(
        isinstance(record, Rejected) or len(record) != width
        for _, record in records(file, delimiter, Quoting.CSV)
    )
