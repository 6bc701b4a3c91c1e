"""Files of a gigabyte: `python -m benchmarks.large_files [--only NAME ...]`.

Generates each file (with a gigabyte of text, plain or packed), imports it by the command into a fresh SQLite
database, and prints the exit status, CPU seconds, the peak of resident memory and the last line of the
messages. The budget is 500 MB, or 4 GB for one document, which is read as a whole. Needs 3 GB of disk.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.import_seahorse_size import HEADER, ROOT, environment, prepare

SIZE = 1024**3  # bytes of text
PIECE = 1024**2
DOCUMENT = 500 * PIECE  # just below the limit of one document
BUDGET_MB, BUDGET_OF_DOCUMENTS_MB = 500, 4000
SENTENCE = "Der Hafen von Öland war im Januar zugefroren, und die Schiffe warteten zwei Wochen. "


def text(number: int, size: int = PIECE) -> str:
    return f"{number}. " + SENTENCE * (size // len(SENTENCE.encode()))


def long_articles() -> Iterator[str]:
    """1,000 articles of a megabyte."""
    for number in range(SIZE // PIECE):
        row = {"article_id": f"a{number}", "system": "s", "summary": "Kurz.", "article": text(number)}
        yield json.dumps(row, ensure_ascii=False) + "\n"


def long_summaries() -> Iterator[str]:
    """A table with 20,000 summaries of 50 KB."""
    yield "\t".join(HEADER) + "\n"
    for number in range(SIZE // 50_000):
        yield "\t".join([f"x-test-{number}", "de", text(number, 50_000), "s", *["Yes"] * 6]) + "\n"


def one_line() -> Iterator[str]:
    yield '{"article_id": "a", "system": "s", "summary": "'
    for number in range(SIZE // PIECE):
        yield text(number)
    yield '"}\n'


def open_quote() -> Iterator[str]:
    """A cell in quotes over a gigabyte of lines."""
    yield "article_id,system,summary\n"
    yield 'a,s,"'
    for number in range(SIZE // 1000):
        yield text(number, 1000) + "\n"


def one_document(size: int = SIZE) -> Iterator[str]:
    """An array of 1,000 objects with a megabyte each."""
    rows = long_articles()
    yield "["
    for number in range(size // PIECE):
        yield ("," if number else "") + next(rows)
    yield "]"


def allowed_document() -> Iterator[str]:
    return one_document(DOCUMENT)


def sheet(*, short: bool) -> Iterator[str]:
    """The XML of a sheet, with short cells, or with one long one."""
    yield f'<worksheet xmlns="{SHEET}"><sheetData><row r="1"><c t="inlineStr"><is><t>'
    for number in range(SIZE // PIECE):
        yield text(number).replace(" ", "</t></is></c><c><v>1</v></c></row><row><c><is><t>" if short else " ")
    yield "</t></is></c></row></sheetData></worksheet>"


SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
FILES = {
    "long articles": ("a.jsonl", "examples", long_articles),
    "long articles, gzip": ("a.jsonl.gz", "examples", long_articles),
    "long summaries": ("s.tsv", "seahorse", long_summaries),
    "one line": ("l.jsonl", "examples", one_line),
    "one line, gzip": ("l.jsonl.gz", "examples", one_line),
    "one line as a table": ("l.tsv", "seahorse", one_line),
    "open quote": ("q.csv", "examples", open_quote),
    "one document": ("d.json", "examples", one_document),
    "one document of 500 MiB": ("d.json", "examples", allowed_document),
    "workbook of short cells": ("w.xlsx", "examples", lambda: sheet(short=True)),
    "workbook of one cell": ("w.xlsx", "examples", lambda: sheet(short=False)),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=list(FILES), default=list(FILES))
    print(f"{'file':24} {'MB':>6} {'exit':>4} {'CPU s':>6} {'peak MB':>8}")
    for name in parser.parse_args().only:
        file_name, format_name, pieces = FILES[name]
        with tempfile.TemporaryDirectory() as folder:
            path, database = Path(folder) / file_name, Path(folder) / "database.sqlite3"
            write(path, pieces())
            prepare(database)
            status, seconds, megabytes, words = import_once(database, format_name, path)
            budget = BUDGET_OF_DOCUMENTS_MB if "document" in name else BUDGET_MB
            over = "  over the budget" if megabytes > budget else ""
            size = path.stat().st_size / 1e6
            print(
                f"{name:24} {size:6,.0f} {status:4} {seconds:6.1f} {megabytes:8,.0f}{over}  {words}",
                flush=True,
            )


def write(path: Path, pieces: Iterator[str]) -> None:
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("xl/workbook.xml", "<workbook/>")
            with archive.open("xl/worksheets/sheet1.xml", "w") as part:
                for piece in pieces:
                    part.write(piece.encode())
        return
    with gzip.open(path, "wb", 1) if path.suffix == ".gz" else path.open("wb") as file:
        for piece in pieces:
            file.write(piece.encode())


def import_once(database: Path, format_name: str, path: Path) -> tuple[int, float, float, str]:
    """Return the exit status, CPU seconds, peak resident megabytes and last message of the command."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "import", format_name, str(path), "--project", "big"],
        cwd=ROOT,
        env=environment(database),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    words = (process.stderr.read() if process.stderr else b"").decode().strip().splitlines()
    _, status, usage = os.wait4(process.pid, 0)
    problem = next((line for line in words if "expected" in line), words[-1] if words else "")
    return (
        os.waitstatus_to_exitcode(status),
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / 1024,
        problem[:110],
    )


if __name__ == "__main__":
    main()
