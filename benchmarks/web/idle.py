"""What Touchstone takes while nobody uses it: `.venv/bin/python -m benchmarks.web.idle [--seconds 120]`.

Starts what `script/up` starts, on empty data, lets it settle, and prints the memory of each process and its
share of a core over the seconds. Pages that processes share are counted once.
"""

import argparse
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.web.tools import Campaign
from benchmarks.web.touchstone import Touchstone

SETTLING_S = 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    seconds = parser.parse_args().seconds
    tool = Touchstone(Path(), "gunicorn")
    with tempfile.TemporaryDirectory() as folder:
        try:
            tool.start(Path(folder), Campaign(0, 0))
            time.sleep(SETTLING_S)
            root = psutil.Process(tool.processes[0].pid)
            processes = [root, *root.children(recursive=True)]
            before = {process: cpu_s(process) for process in processes}
            time.sleep(seconds)
            print(f"{'process':<60}{'MB':>7}{'% of a core':>14}")
            for process in processes:
                short = [word for word in process.cmdline()[2:] if len(word) < 30]
                show(" ".join(short)[:58], memory(process), (cpu_s(process) - before[process]) / seconds)
            taken = sum(cpu_s(process) - before[process] for process in processes)
            show("together", sum(map(memory, processes)), taken / seconds)
        finally:
            tool.stop()


def show(name: str, megabytes: float, share: float) -> None:
    print(f"{name:<60}{megabytes:>7.0f}{share:>14.2%}")


def memory(process: psutil.Process) -> float:
    return float(process.memory_full_info().pss) / 2**20


def cpu_s(process: psutil.Process) -> float:
    """Return the processor time of the process and of those of its children that have ended."""
    return float(sum(process.cpu_times()[:4]))


if __name__ == "__main__":
    main()
