"""Rows of figures as CSV, JSON, LaTeX, Markdown and plain text: the same rows, whoever asks for them.

A table's cells have the value to three decimals, its interval (`low`, `high`) to two, and the letters of its
rank cluster (`cluster`), where the row has them. In LaTeX and Markdown the best of a column (`is_best`) is
bold.
"""

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
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",  # else taken for an argument where it begins a line
        "]": "{]}",
        "α": r"$\alpha$",
        "ρ": r"$\rho$",
        "τ": r"$\tau$",
    }
)


MARKDOWN_ESCAPES = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|~&$#"})

FORMATS = ("table", "json", "csv", "latex", "markdown")


def written(
    rows: Sequence[Row],
    format_name: str,
    *,
    down: str,
    across: Sequence[str],
    n: str,
    titles: Mapping[str, str] | None = None,
) -> str:
    """The rows in one of FORMATS. Tables have a line for each value of `down`; `n` is shown beside values.

    `titles` says what lines and columns are called in LaTeX and Markdown; without one they keep their names.
    """
    if format_name == "json":
        return as_json(rows)
    if format_name == "csv":
        return as_csv(rows)
    if format_name == "table":
        return as_table(rows, down, across, n)
    write = as_latex if format_name == "latex" else as_markdown
    return write(rows, down, across, titles or {})


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


def as_latex(rows: Sequence[Row], down: str, across: Sequence[str], titles: Mapping[str, str]) -> str:
    """A table in LaTeX (booktabs), with a row for each value of `down` and a column for each of `across`.

    What the numbers are, what was left out and why some are undefined follows in comments.
    """
    names, columns, cells = _laid_out(rows, down, across)
    lines = [
        rf"\begin{{tabular}}{{l{'r' * len(columns)}}}",
        r"\toprule",
        " & ".join(["", *(_latex_text(titles.get(column, column)) for column in columns)]) + r" \\",
        r"\midrule",
    ]
    for name in names:
        values = (_latex_value(cells.get((name, column))) for column in columns)
        lines.append(" & ".join([_latex_text(titles.get(name[0], name[0])), *values]) + r" \\")
    notes = [*_notes(rows, (down, *across)), *_definitions(rows)]
    comments = [f"% {' '.join(note.split())}" for note in notes]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *comments, ""])


def _latex_text(text: str) -> str:
    return " ".join(text.split()).translate(LATEX_ESCAPES)


def _latex_value(row: Row | None) -> str:
    if row is None:
        return "--"
    value, cluster = row["value"], row.get("cluster")
    if not isinstance(value, float):
        return "undefined"
    letters = f"^{{{_latex_text(str(cluster))}}}" if cluster else ""
    if row.get("is_best"):
        shown = rf"\textbf{{{_latex_number(value, 3)}}}" + (f"${letters}$" if letters else "")
    else:
        shown = f"${value:.3f}{letters}$"
    interval = _interval(row)
    return f"{shown} [{', '.join(_latex_number(end, 2) for end in interval)}]" if interval else shown


def _latex_number(number: float, decimals: int) -> str:
    """In text, so that it can be bold; a hyphen would be too short for a minus."""
    return f"{number:.{decimals}f}".replace("-", "$-$")


def as_markdown(rows: Sequence[Row], down: str, across: Sequence[str], titles: Mapping[str, str]) -> str:
    """A table in Markdown, with a row for each value of `down` and a column for each of `across`.

    Below it what the numbers are, what was left out and why some are undefined.
    """
    names, columns, cells = _laid_out(rows, down, across)
    table = [
        ["", *(_markdown_text(titles.get(column, column)) for column in columns)],
        ["---", *("---:" for _ in columns)],
    ]
    table += [
        [
            _markdown_text(titles.get(name[0], name[0])),
            *(_markdown_value(cells.get((name, column))) for column in columns),
        ]
        for name in names
    ]
    notes = [f"- {_markdown_text(note)}" for note in [*_notes(rows, (down, *across)), *_definitions(rows)]]
    return "\n".join([*(f"| {' | '.join(line)} |" for line in table), "", *notes, ""])


def _markdown_text(text: str) -> str:
    return " ".join(text.split()).translate(MARKDOWN_ESCAPES)


def _markdown_value(row: Row | None) -> str:
    if row is None:
        return "–"
    value, cluster = row["value"], row.get("cluster")
    if not isinstance(value, float):
        return "undefined"
    shown = f"**{value:.3f}**" if row.get("is_best") else f"{value:.3f}"
    letters = f"<sup>{_markdown_text(str(cluster))}</sup>" if cluster else ""
    interval = _interval(row)
    return f"{shown}{letters} \\[{interval[0]:.2f}, {interval[1]:.2f}\\]" if interval else f"{shown}{letters}"


def _interval(row: Row) -> tuple[float, float] | None:
    low, high = row.get("low"), row.get("high")
    return (low, high) if isinstance(low, float) and isinstance(high, float) else None


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
    return "\n".join([*lines, "", *_notes(rows, (down, *across)), *_definitions(rows), ""])


def _definitions(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(str(row["definition"]) for row in rows))


def _notes(rows: Sequence[Row], named_by: Sequence[str]) -> list[str]:
    """Why values or intervals are undefined and what was left out, each said once with what it concerns."""
    concerned: dict[str, list[str]] = {}
    for row in rows:
        place = " ".join(str(row[field]) for field in named_by)
        if "reason" in row:
            concerned.setdefault(f"undefined: {row['reason']}", []).append(place)
        if "interval_reason" in row and "reason" not in row:
            concerned.setdefault(f"no interval: {row['interval_reason']}", []).append(place)
        if row["left_out"]:
            concerned.setdefault(f"left out: {_csv_field(row['left_out'])}", []).append(place)
    return [
        f"{note} (all values)" if len(places) == len(rows) else f"{note} ({', '.join(places)})"
        for note, places in concerned.items()
    ]


def _table_value(row: Row | None, n: str) -> str:
    if row is None:
        return "-"
    value, interval = row["value"], _interval(row)
    shown = [f"{value:.3f}" if isinstance(value, float) else "undefined"]
    if interval:
        shown.append(f"[{interval[0]:.2f}, {interval[1]:.2f}]")
    if row.get("cluster"):
        shown.append(str(row["cluster"]))
    return " ".join([*shown, f"({row[n]})"])


def _laid_out(rows: Sequence[Row], down: str, across: Sequence[str]) -> tuple[list[Name], list[str], Cells]:
    """Names of rows and columns in the order they come in, and the row of figures in each cell."""
    cells = {
        ((str(row[down]), row.get("fingerprint")), " ".join(str(row[field]) for field in across)): row
        for row in rows
    }
    names = list(dict.fromkeys(name for name, _ in cells))
    return names, list(dict.fromkeys(column for _, column in cells)), cells
