"""Files for import tests: write them, and read them with an importer."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from annotation.imports.reading.importer import open_import
from annotation.imports.reading.records import Entry, FileRefused, Problem, Rejected

SEAHORSE_HEADER = "gem_id\tworker_lang\tsummary\tmodel\t" + "\t".join(f"question{n}" for n in range(1, 7))
ALL_YES = "\t".join(["Yes"] * 6)


def jsonl(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def lines(path: Path, *rows: str) -> Path:
    path.write_bytes("".join(f"{row}\n" for row in rows).encode())
    return path


def workbook(path: Path, *rows: Sequence[object], as_text: bool = False) -> Path:
    """Write an Excel workbook with one sheet. `as_text` keeps =1 and _x000D_ as they are."""
    book = Workbook()
    for number, row in enumerate(rows, start=1):
        for column, value in enumerate(row, start=1):
            if as_text:
                value = str(value).replace("_x", "_x005F_x")
            cell = book.active.cell(number, column, value)
            if as_text:
                cell.data_type = "s"
    book.save(path)
    return path


def seahorse_row(
    gem_id: str = "xsum-validation-1",
    summary: str = "A ship froze.",
    model: str = "t5_base",
    answers: str = ALL_YES,
    language: str = "en-US",
) -> str:
    return f"{gem_id}\t{language}\t{summary}\t{model}\t{answers}"


@dataclass
class Read:
    entries: list[Entry]
    problems: list[Problem]
    notes: list[str]

    @property
    def where(self) -> list[tuple[int, str]]:
        """Line and field of each problem."""
        return [(problem.line, problem.field) for problem in self.problems]


def read(format_name: str, path: Path, *, companion: Path | None = None, **options: Any) -> Read:
    """Return what the importer yields, without any database."""
    importer = open_import(format_name, path, companion=companion, options=options)
    items = list(importer.entries())
    rejected = [item for item in items if isinstance(item, Rejected)]
    return Read(
        [item for item in items if isinstance(item, Entry)],
        [problem for each in rejected for problem in each.problems],
        importer.notes,
    )


def refused(format_name: str, path: Path, **options: Any) -> Problem:
    """Return the first reason why the whole file is refused."""
    try:
        read(format_name, path, **options)
    except FileRefused as refusal:
        return refusal.problems[0]
    raise AssertionError(f"{path.name} was read")


@contextmanager
def within_cpu_seconds(most: float) -> Iterator[None]:
    """Fail if the block takes more CPU time; quadratic code takes many times as much."""
    started = time.process_time()
    yield
    assert time.process_time() - started < most
