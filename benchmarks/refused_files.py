"""Files that are slow to refuse: `python -m benchmarks.refused_files`.

Generates files of ratings that cost an import as much as possible, imports each by the command into a fresh
SQLite database, and prints the CPU seconds of the process beside those of a valid file of 100,000 rows in the
same run. The budget is 10 CPU seconds for each; machines differ, so the ratio is what compares two commits.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.import_seahorse_size import ROOT, environment, prepare

BUDGET_S = 10
COLUMNS = "article_id,system,rater,question,value"
TEXTS = "A summary of the council meeting.,The council met on Tuesday and adjourned."


def valid() -> Iterator[str]:
    """100,000 rows with one answer each, on 25,000 summaries."""
    return (
        f"a{row // 40},s{row // 4 % 10},r{row % 4},comprehensibility,Yes,{TEXTS}\n" for row in range(100_000)
    )


def open_quote() -> Iterator[str]:
    """1.5 million lines after a quote that is never closed."""
    yield 'a0,s,r,comprehensibility,"Yes\n'
    yield from ("a1,s,r,comprehensibility\n" for _ in range(1_500_000))


def blank_lines() -> Iterator[str]:
    """Six million blank lines before one row."""
    yield from ("\n" for _ in range(6_000_000))
    yield f"a0,s,r,comprehensibility,maybe,{TEXTS}\n"


def off_scale() -> Iterator[str]:
    """400,000 rows with an answer that no scale has, each of another rater."""
    return (
        f"a{row // 40},s{row // 4 % 10},r{row},comprehensibility,maybe{row},{TEXTS}\n"
        for row in range(400_000)
    )


def repeats() -> Iterator[str]:
    """300,000 rows that answer one question of one summary, each differently."""
    return (f"a0,s,r,comprehensibility,maybe{row},{TEXTS}\n" for row in range(300_000))


def unknown_articles() -> Iterator[str]:
    """300,000 rows, each of a summary that neither the file nor the project has."""
    return (f"a{row},s,r,comprehensibility,Yes\n" for row in range(300_000))


FILES: dict[str, tuple[Callable[[], Iterator[str]], tuple[str, ...]]] = {
    "valid": (valid, ()),
    "open quote": (open_quote, ("--skip-bad",)),
    "blank lines": (blank_lines, ()),
    "off the scale": (off_scale, ("--skip-bad",)),
    "off the scale, for a new questionnaire": (off_scale, ("--skip-bad", "--create-questionnaire")),
    "repeats": (repeats, ()),
    "repeats, skipped": (repeats, ("--skip-bad",)),
    "repeats, the last counts": (repeats, ("--repeated", "last")),
    "repeats, separate": (repeats, ("--repeated", "separate")),
    "unknown articles": (unknown_articles, ("--skip-bad",)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(FILES), default=list(FILES))
    chosen = parser.parse_args().only
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'file':40} {'CPU s':>6} {'of a valid file':>15} {'exit':>4}")
        usual = None
        for name in dict.fromkeys(["valid", *chosen]):
            rows, options = FILES[name]
            path, database = Path(folder) / "ratings.csv", Path(folder) / "database.sqlite3"
            with path.open("w", encoding="utf-8") as file:
                has_texts = rows is not unknown_articles
                file.write(f"{COLUMNS},summary,article\n" if has_texts else f"{COLUMNS}\n")
                file.writelines(rows())
            prepare(database)
            seconds, status = import_once(database, path, options)
            usual = usual or seconds
            over = "  over the budget" if rows is not valid and seconds > BUDGET_S else ""
            print(f"{name:40} {seconds:6.1f} {seconds / usual:15.2f} {status:4}{over}", flush=True)
            for left in Path(folder).iterdir():
                left.unlink()


def import_once(database: Path, ratings: Path, options: tuple[str, ...]) -> tuple[float, int]:
    """Return CPU seconds and the exit status of the command."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "import", "ratings", str(ratings), "--project", "big", *options],
        cwd=ROOT,
        env=environment(database),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    main()
