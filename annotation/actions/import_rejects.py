"""The file of rejected rows that is written beside an imported one."""

import json
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from annotation.importers.records import Rejected


def rejected_rows_path(imported: Path) -> Path:
    return imported.with_name(f"{imported.name}.rejected.jsonl")


class RejectedRows:
    """Rejected rows as JSONL: line, the row as far as it could be read, and what is wrong with it.

    The file appears with `keep` and only if there was a row to write.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._unfinished = None if path is None else path.with_name(f".{path.name}.unfinished")
        self._stream: TextIO | None = None

    def __enter__(self) -> Self:
        return self

    def add(self, rejected: Rejected) -> None:
        if self._unfinished is None:
            return
        if self._stream is None:
            self._stream = self._unfinished.open("w", encoding="utf-8", errors="backslashreplace")
        row = {
            "file": rejected.file,
            "line": rejected.line,
            "row": rejected.row,
            "problems": [
                {"field": each.field, "found": each.found, "expected": each.expected}
                for each in rejected.problems
            ],
        }
        self._stream.write(json.dumps(row, ensure_ascii=False) + "\n")

    def keep(self) -> None:
        if self._stream is not None and self._unfinished is not None and self._path is not None:
            self._stream.close()
            self._stream = None
            self._unfinished.replace(self._path)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._stream is not None and self._unfinished is not None:
            self._stream.close()
            self._unfinished.unlink(missing_ok=True)
