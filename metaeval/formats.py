"""Rows of figures as CSV, JSON, LaTeX and plain text: the same rows, whoever asks for them."""

import csv
import io
import json
from collections.abc import Mapping, Sequence

from annotation.spreadsheet import plain_cell

Row = Mapping[str, object]
Name = tuple[str, object]
"""What a line of a table is called, and what tells it from another of that name."""
Cells = dict[tuple[Name, str], Row]

LATEX_ESCAPES = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "α": r"$\alpha$",
        "ρ": r"$\rho$",
        "τ": r"$\tau$",
    }
)


FORMATS = ("table", "json", "csv", "latex")


def written(rows: Sequence[Row], format_name: str, *, down: str, across: Sequence[str], n: str) -> str:
    """The rows in one of FORMATS. Tables have a line for each value of `down`; `n` is shown beside values."""
    if format_name == "json":
        return as_json(rows)
    if format_name == "csv":
        return as_csv(rows)
    return as_latex(rows, down, across) if format_name == "latex" else as_table(rows, down, across, n)


def as_json(rows: Sequence[Row]) -> str:
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


def as_csv(rows: Sequence[Row]) -> str:
    """All fields, numbers in full; a text that a spreadsheet would take for a formula gets an apostrophe."""
    fields = list(dict.fromkeys(field for row in rows for field in row))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(fields)
    writer.writerows([_csv_field(row.get(field)) for field in fields] for row in rows)
    return text.getvalue()


def _csv_field(value: object) -> object:
    if isinstance(value, Mapping):
        value = "; ".join(f"{reason}: {count}" for reason, count in value.items())
    return plain_cell(value) if isinstance(value, str) else value


def as_latex(rows: Sequence[Row], down: str, across: Sequence[str]) -> str:
    """A table in LaTeX (booktabs), with a row for each value of `down` and a column for each of `across`."""
    names, columns, cells = _laid_out(rows, down, across)
    lines = [
        rf"\begin{{tabular}}{{l{'r' * len(columns)}}}",
        r"\toprule",
        " & ".join(["", *(column.translate(LATEX_ESCAPES) for column in columns)]) + r" \\",
        r"\midrule",
    ]
    for name in names:
        values = (_latex_value(cells.get((name, column))) for column in columns)
        lines.append(" & ".join([name[0].translate(LATEX_ESCAPES), *values]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _latex_value(row: Row | None) -> str:
    if row is None:
        return "--"
    value = row["value"]
    return f"${value:.3f}$" if isinstance(value, float) else "undefined"


def as_table(rows: Sequence[Row], down: str, across: Sequence[str], n: str) -> str:
    """A table for a terminal: values with, in brackets, the number `n` of what they stand on; below it what
    was left out or is undefined and why, and the definitions."""
    names, columns, cells = _laid_out(rows, down, across)
    table = [["", *columns]]
    table += [
        [name[0], *(_table_value(cells.get((name, column)), n) for column in columns)] for name in names
    ]
    widths = [max(len(line[place]) for line in table) for place in range(len(columns) + 1)]
    lines = [
        "  ".join(
            [
                line[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
            ]
        ).rstrip()
        for line in table
    ]
    definitions = dict.fromkeys(str(row["definition"]) for row in rows)
    return "\n".join([*lines, "", *_notes(rows, (down, *across)), *definitions, ""])


def _notes(rows: Sequence[Row], named_by: Sequence[str]) -> list[str]:
    """Why values are undefined and what was left out, each said once with the values that it concerns."""
    concerned: dict[str, list[str]] = {}
    for row in rows:
        place = " ".join(str(row[field]) for field in named_by)
        if "reason" in row:
            concerned.setdefault(f"undefined: {row['reason']}", []).append(place)
        if row["left_out"]:
            concerned.setdefault(f"left out: {_csv_field(row['left_out'])}", []).append(place)
    return [
        f"{note} (all values)" if len(places) == len(rows) else f"{note} ({', '.join(places)})"
        for note, places in concerned.items()
    ]


def _table_value(row: Row | None, n: str) -> str:
    if row is None:
        return "-"
    value = row["value"]
    shown = f"{value:.3f}" if isinstance(value, float) else "undefined"
    return f"{shown} ({row[n]})"


def _laid_out(rows: Sequence[Row], down: str, across: Sequence[str]) -> tuple[list[Name], list[str], Cells]:
    """Names of rows and columns in the order they come in, and the row of figures in each cell."""
    cells = {
        ((str(row[down]), row.get("fingerprint")), " ".join(str(row[field]) for field in across)): row
        for row in rows
    }
    names = list(dict.fromkeys(name for name, _ in cells))
    return names, list(dict.fromkeys(column for _, column in cells)), cells
