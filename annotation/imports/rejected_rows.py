"""The file of rejected rows, written beside the imported file."""

import json
from pathlib import Path
from typing import TextIO

from annotation.imports.reading.records import Rejected

_encoded = json.JSONEncoder(ensure_ascii=False).encode


def rejected_rows_path(imported: Path) -> Path:
    return imported.with_name(f"{imported.name}.rejected.jsonl")


class RejectedRows:
    """Writes rejected rows as JSONL with their lines and problems.

    `keep` makes the file visible, if there was a row to write. `close` deletes what was not kept.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._unfinished = None if path is None else path.with_name(f".{path.name}.unfinished")
        self._stream: TextIO | None = None

    def add(self, rejected: Rejected) -> None:
        if self._unfinished is None:
            return
        if self._stream is None:
            self._stream = self._unfinished.open("w", encoding="utf-8", errors="backslashreplace")
        problems = [
            {"field": each.field, "found": each.found, "expected": each.expected}
            for each in rejected.problems
        ]
        row = {"file": rejected.file, "line": rejected.line, "row": rejected.row, "problems": problems}
        self._stream.write(_encoded(row) + "\n")

    def keep(self) -> None:
        if self._stream is not None and self._unfinished is not None and self._path is not None:
            self._stream.close()
            self._stream = None
            self._unfinished.replace(self._path)

    def close(self) -> None:
        if self._stream is not None and self._unfinished is not None:
            self._stream.close()
            self._unfinished.unlink(missing_ok=True)
