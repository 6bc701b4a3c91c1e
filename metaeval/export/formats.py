"""Rows of figures as CSV, JSON, LaTeX, Markdown and plain text.

Cells of tables have the value to three decimals, its interval (`low`, `high`) to two, and the letters of its
rank cluster (`cluster`), where the row has them. Whole numbers have whole ends. A row without a value has
the words `shown` instead, and `text` is a remark below the table. In LaTeX and Markdown the best of a
column (`is_best`) is bold. A dagger marks a value on much fewer units than others of its column
(`few_units`).
"""

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from annotation.texts.spreadsheet import plain_row
from metaeval.stats.result import each_once

Row = Mapping[str, object]

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
        "·": r"$\cdot$",
        "±": r"$\pm$",
        "∞": r"$\infty$",
        "α": r"$\alpha$",
        "ε": r"$\varepsilon$",
        "κ": r"$\kappa$",
        "ρ": r"$\rho$",
        "τ": r"$\tau$",
    }
)


MARKDOWN_ESCAPES = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|~&$#"})

FEW = "†"

MOST_COLUMNS = 4
"""Columns of values in a LaTeX table; with intervals, more do not fit the width of a page."""

FORMATS = ("table", "json", "csv", "latex", "markdown")


def written(
    rows: Sequence[Row],
    format_name: str,
    *,
    down: str,
    across: Sequence[str],
    n: str,
    titles: Mapping[str, str] | None = None,
    by: str = "",
) -> str:
    """Return the rows in one of FORMATS.

    Tables have a line for each value of `down` and a column for each of `across`. Plain tables show `n`
    beside values. `titles` names lines and columns in LaTeX and Markdown. With a field `by`, each of its
    values has a table of its own and stands in its corner.
    """
    if format_name == "json":
        return as_json(rows)
    if format_name == "csv":
        return as_csv(rows)
    if format_name == "table":
        return as_table(rows, down, across, n, by)
    write = as_latex if format_name == "latex" else as_markdown
    return write(rows, down, across, titles or {}, by)


def as_json(rows: Sequence[Row]) -> str:
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


def as_csv(rows: Sequence[Row]) -> str:
    """Return all fields, numbers in full. Texts that a spreadsheet would run as formulas are escaped."""
    fields = list(dict.fromkeys(field for row in rows for field in row))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(plain_row(fields))
    writer.writerows(plain_row(_csv_field(row.get(field)) for field in fields) for row in rows)
    return text.getvalue()


def _csv_field(value: object) -> object:
    if isinstance(value, Mapping):
        return "; ".join(f"{reason}: {count}" for reason, count in value.items())
    if isinstance(value, list):
        return "; ".join(map(_difference, value))
    return value


def _difference(pair: Row) -> str:
    """Return the difference from another evaluator in words."""
    difference, p_value = pair["difference"], pair["p_value"]
    if not isinstance(difference, float):
        return f"from {pair['other']} undefined, {pair['reason']}"
    tested = f"p = {p_value:.3g}" if isinstance(p_value, float) else f"no p-value, {pair['reason']}"
    return f"from {pair['other']} {difference:+.3f}, {tested}, on {pair['units']:,}"


def as_latex(
    rows: Sequence[Row], down: str, across: Sequence[str], titles: Mapping[str, str], by: str = ""
) -> str:
    """Return LaTeX tables (booktabs), with definitions, exclusions and reasons as comments.

    More than MOST_COLUMNS columns are split into several tables, as equal as possible, one below the other.
    """
    tables = [
        _tabular(each)
        for laid_out in _laid_out(
            rows, down, across, by, lambda name: _latex_text(titles.get(name, name)), _latex_value
        )
        for each in _split(laid_out)
    ]
    notes = [f"% {' '.join(note.split())}" for note in _notes(rows, (by, down, *across))]
    return "\n".join(["\n\n\\bigskip\n".join(tables), *notes, ""])


def _split(table: Sequence[Sequence[str]]) -> Iterator[list[list[str]]]:
    """Yield parts of a table of at most MOST_COLUMNS columns beside the first, which each part has."""
    n_columns = len(table[0]) - 1
    n_tables = max(1, -(-n_columns // MOST_COLUMNS))
    ends = [1 + n_columns * place // n_tables for place in range(n_tables + 1)]
    for begin, end in pairwise(ends):
        yield [[line[0], *line[begin:end]] for line in table]


def _tabular(table: Sequence[Sequence[str]]) -> str:
    head, *lines = table
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
            r"\toprule",
            f"{' & '.join(head)} \\\\",
            r"\midrule",
            *(f"{' & '.join(line)} \\\\" for line in lines),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _latex_text(text: str) -> str:
    return " ".join(text.split()).translate(LATEX_ESCAPES)


def _latex_value(row: Row | None) -> str:
    if row is None:
        return "--"
    value, cluster, interval = row["value"], row.get("cluster"), _interval(row)
    ends = f" [{', '.join(map(_latex_number, interval))}]" if interval else ""
    if isinstance(value, int):
        return f"{_latex_number(f'{value:,}')}{ends}"
    if not isinstance(value, float):
        return _latex_text(_in_words(row))
    marks = (_latex_text(str(cluster)) if cluster else "") + (r"\dagger" if row.get("few_units") else "")
    letters = f"^{{{marks}}}" if marks else ""
    if row.get("is_best"):
        shown = rf"\textbf{{{_latex_number(f'{value:.3f}')}}}" + (f"${letters}$" if letters else "")
    else:
        shown = f"${value:.3f}{letters}$"
    return f"{shown}{ends}"


def _latex_number(number: str) -> str:
    """Return a number for text mode, so that it can be bold, with a proper minus."""
    return number.replace("-", "$-$").replace("∞", r"$\infty$")


def as_markdown(
    rows: Sequence[Row], down: str, across: Sequence[str], titles: Mapping[str, str], by: str = ""
) -> str:
    """Return Markdown tables, with definitions, exclusions and reasons below them."""
    lines = []
    for head, *body in _laid_out(
        rows, down, across, by, lambda name: markdown_text(titles.get(name, name)), _markdown_value
    ):
        table = [head, ["---", *("---:" for _ in head[1:])], *body]
        lines += [*(f"| {' | '.join(line)} |" for line in table), ""]
    notes = [f"- {markdown_text(note)}" for note in _notes(rows, (by, down, *across))]
    return "\n".join([*lines, *notes, ""])


def markdown_text(text: str) -> str:
    """Return a text as one line of Markdown, without markup or HTML."""
    return " ".join(text.split()).translate(MARKDOWN_ESCAPES)


def _markdown_value(row: Row | None) -> str:
    if row is None:
        return "–"
    value, cluster, interval = row["value"], row.get("cluster"), _interval(row)
    ends = rf" \[{', '.join(interval)}\]" if interval else ""
    if isinstance(value, int):
        return f"{value:,}{ends}"
    if not isinstance(value, float):
        return markdown_text(_in_words(row))
    shown = f"**{value:.3f}**" if row.get("is_best") else f"{value:.3f}"
    marks = (markdown_text(str(cluster)) if cluster else "") + (FEW if row.get("few_units") else "")
    letters = f"<sup>{marks}</sup>" if marks else ""
    return f"{shown}{letters}{ends}"


def _in_words(row: Row) -> str:
    """Return what stands in place of a missing value."""
    return str(row.get("shown") or "undefined")


def _interval(row: Row) -> tuple[str, str] | None:
    """Return both ends as text, whole for a whole number."""
    low, high = row.get("low"), row.get("high")
    if not isinstance(low, float) or not isinstance(high, float):
        return None
    if not isinstance(row["value"], int):
        return f"{low:.2f}", f"{high:.2f}"
    return _whole(low), _whole(high)


def _whole(number: float) -> str:
    return "∞" if math.isinf(number) else f"{number:,.0f}"


def as_table(rows: Sequence[Row], down: str, across: Sequence[str], n: str, by: str = "") -> str:
    """Return tables for a terminal, with exclusions, reasons and definitions below them."""
    tables = _laid_out(rows, down, across, by, str, lambda row: _table_value(row, n))
    return "\n\n".join([*map(_aligned, tables), "\n".join([*_notes(rows, (by, down, *across)), ""])])


def _aligned(table: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    )


def _notes(rows: Sequence[Row], named_by: Sequence[str]) -> list[str]:
    """Return why values or intervals are undefined, what was left out, and the definitions, each once."""
    concerned: dict[str, list[str]] = {}
    for row in rows:
        place = _named(row, named_by)
        if "reason" in row:
            concerned.setdefault(f"undefined: {row['reason']}", []).append(place)
        if "interval_reason" in row and "reason" not in row:
            concerned.setdefault(f"no interval: {row['interval_reason']}", []).append(place)
        if "text" in row:
            concerned.setdefault(str(row["text"]), []).append(place)
        if row["left_out"]:
            concerned.setdefault(f"left out: {_csv_field(row['left_out'])}", []).append(place)
        if row.get("counted_as_zero"):
            concerned.setdefault(f"counted as 0: {_csv_field(row['counted_as_zero'])}", []).append(place)
        if row.get("few_units"):
            concerned.setdefault(f"{FEW} much fewer than others: {row['few_units']}", []).append(place)
        if row.get("why_no_letters"):
            concerned.setdefault(f"no letters: {row['why_no_letters']}", []).append(place)
        if row.get("differences"):
            concerned.setdefault(
                f"differences, on so many {row['unit']}: {_csv_field(row['differences'])}", []
            ).append(place)
    notes = [
        f"{note} (all values)" if len(places) == len(rows) else f"{note} ({', '.join(places)})"
        for note, places in concerned.items()
    ]
    return notes + each_once(str(row["definition"]) for row in rows)


def _table_value(row: Row | None, n: str) -> str:
    if row is None:
        return "-"
    value, interval = row["value"], _interval(row)
    if isinstance(value, int):
        shown = [f"{value:,}"]
    else:
        shown = [f"{value:.3f}" if isinstance(value, float) else _in_words(row)]
    if interval:
        shown.append(f"[{', '.join(interval)}]")
    if row.get("cluster") or row.get("few_units"):
        shown.append(str(row.get("cluster", "")) + (FEW if row.get("few_units") else ""))
    return " ".join([*shown, f"({row[n]})"])


def _laid_out(
    rows: Sequence[Row],
    down: str,
    across: Sequence[str],
    by: str,
    name: Callable[[str], str],
    value: Callable[[Row | None], str],
) -> list[list[list[str]]]:
    """Return the cells of each table, the head first, of rows as `value` and names as `name` writes them.

    Lines of the same name differ in the fingerprint, or columns if these are evaluators.
    """
    tables: dict[str, dict[tuple[tuple[str, object], tuple[str, object]], Row]] = {} if rows else {"": {}}
    for row in rows:
        own = row.get("fingerprint")
        line = str(row[down]), None if "evaluator" in across else own
        column = _named(row, across), own if "evaluator" in across else None
        tables.setdefault(str(row[by]) if by else "", {})[line, column] = row
    laid_out = []
    for corner, cells in tables.items():
        lines = list(dict.fromkeys(line for line, _ in cells))
        columns = list(dict.fromkeys(column for _, column in cells))
        head = [name(corner) if corner else "", *(name(column) for column, _ in columns)]
        body = [[name(line[0]), *(value(cells.get((line, column))) for column in columns)] for line in lines]
        laid_out.append([head, *body])
    return laid_out


def _named(row: Row, fields: Sequence[str]) -> str:
    """Return the row's values of the `fields` that say something."""
    return " ".join(str(row[field]) for field in fields if field and row[field] != "")
