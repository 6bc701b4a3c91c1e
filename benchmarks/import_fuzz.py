"""Imports of damaged files: `python -m benchmarks.import_fuzz [--cases 10000] [--seed 0]`.

Changes valid files at random (see tests/annotation/imports/mutations.py), imports each by the functions that
the command and the page use, and prints how often which outcome was seen. An import must be complete, or
refused with file, line and field and nothing stored. It must end within 20 CPU seconds. Each failure is
printed with its seed; `--cases 1 --seed SEED` repeats it. The exit status is 1 if there was one.

The real files are read from ../shared/data.
"""

import argparse
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT_S = 20
SLOW = "too slow"


class TooSlow(BaseException):
    """The case took more than LIMIT_S of the processor."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        sys.exit(fuzz(range(given.seed, given.seed + given.cases), Path(folder)))


def prepare(folder: Path) -> None:
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "touchstone.settings",
        "TOUCHSTONE_MODE": "local",
        "SECRET_KEY": "benchmark" * 8,
        "DATABASE_URL": f"sqlite:///{folder}/fuzz.sqlite3",
        "VAR_DIR": str(folder),
    }
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def fuzz(seeds: range, folder: Path) -> int:
    """Run the cases and print their outcomes. Return the exit status."""
    from tests.annotation.imports.fuzzing import FAILURES, FORMATS, Fuzzer

    files = folder / "files"
    files.mkdir()
    fuzzer = Fuzzer(ROOT.parent / "shared/data", files)
    counts: Counter[tuple[str, str]] = Counter()
    started, longest = time.process_time(), (0.0, 0)
    signal.signal(signal.SIGVTALRM, stop)
    for seed in seeds:
        before = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_S)
        try:
            result = fuzzer.run(seed)
        except TooSlow:
            counts[FORMATS[seed % len(FORMATS)], SLOW] += 1
            print(f"seed {seed}: {SLOW}", flush=True)
            continue
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        longest = max(longest, (time.process_time() - before, seed))
        counts[result.format, result.outcome] += 1
        if result.outcome in FAILURES or len(seeds) == 1:
            print(f"seed {seed}: {result.outcome}: {result.words}", flush=True)
    outcomes = list(dict.fromkeys(outcome for _, outcome in sorted(counts)))
    print(f"{'':10}" + "".join(f"{outcome:>18}" for outcome in outcomes))
    for name in FORMATS:
        print(f"{name:10}" + "".join(f"{counts[name, outcome]:18,}" for outcome in outcomes))
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{len(seeds):,} cases in {seconds:,.0f} CPU seconds and {peak:,.0f} MB; "
        f"the longest took {longest[0]:.1f} s (seed {longest[1]})"
    )
    return int(any(counts[name, outcome] for name in FORMATS for outcome in (*FAILURES, SLOW)))


def stop(*_: object) -> None:
    raise TooSlow


if __name__ == "__main__":
    main()
