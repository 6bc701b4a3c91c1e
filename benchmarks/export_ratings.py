"""Export of a million answers: `python benchmarks/export_ratings.py`.

Makes a project of SEAHORSE's design with a million answers, enlarged, in a fresh SQLite database, exports it
by the command in each format, and prints lines, seconds and peak memory of each, medians of the repeats.
The budget is 200 MB. `--share` makes a smaller project for a trial.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
SHARE = 1.75  # of SEAHORSE's size: over a million answers
BUDGET_MB = 200
EXPORTS = {
    "ratings, CSV": ("ratings",),
    "ratings, JSONL": ("ratings", "--file-type", "jsonl"),
    "seahorse": ("seahorse",),
    "examples": ("examples",),
    "scores": ("scores",),
    "dataset": ("dataset",),
}
MAKE = """
import django
django.setup()
from django.db import transaction
from benchmarks.seahorse_size import make_project, size
with transaction.atomic():
    make_project(size({share}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--share", type=float, default=SHARE)
    parser.add_argument("--only", choices=EXPORTS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "TOUCHSTONE_MODE": "local",
            "SECRET_KEY": "benchmark" * 8,
            "DATABASE_URL": f"sqlite:///{folder}/big.sqlite3",
            "DJANGO_SETTINGS_MODULE": "touchstone.settings",
        }
        for command in (["manage.py", "migrate", "-v0"], ["-c", MAKE.format(share=arguments.share)]):
            subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, check=True)
        for name, command in EXPORTS.items():
            if arguments.only in (None, name):
                measured = [export(command, Path(folder), environment) for _ in range(arguments.repeats)]
                seconds, cpu, megabytes, rows, size = (median(each) for each in zip(*measured, strict=True))
                print(
                    f"{name}: {rows:,.0f} lines, {size / 1e6:,.0f} MB, {seconds:.1f} s ({cpu:.1f} s of "
                    f"processor), {megabytes:.0f} MB of memory (budget {BUDGET_MB})",
                    flush=True,
                )


def export(
    command: tuple[str, ...], folder: Path, environment: dict[str, str]
) -> tuple[float, float, float, int, int]:
    """Return wall seconds, CPU seconds and peak resident megabytes of the command, lines and bytes."""
    output = folder / "exported"
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "export", *command, "--project", "big", "--output", str(output)],
        cwd=ROOT,
        env=environment,
        stderr=subprocess.PIPE,
    )
    errors = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(errors.decode())
    seconds = time.perf_counter() - started
    with output.open("rb") as file:
        rows = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    return (
        seconds,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / 1024,
        rows,
        output.stat().st_size,
    )


if __name__ == "__main__":
    main()
