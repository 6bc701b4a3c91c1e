"""What Touchstone takes while nobody uses it: `.venv/bin/python -m benchmarks.web.idle [--seconds 120]`.

Starts what `script/up` starts, on empty data, lets it settle, and prints the memory of each process and its
share of a core over the seconds. Pages that processes share are counted once.
"""

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.web.load import cpu_s, memory, tree
from benchmarks.web.tools import Campaign
from benchmarks.web.touchstone import Touchstone

SETTLING_S = 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    seconds = parser.parse_args().seconds
    tool = Touchstone(Path(), "own")
    with tempfile.TemporaryDirectory() as folder:
        try:
            tool.start(Path(folder), Campaign(0, 0))
            time.sleep(SETTLING_S)
            processes = tree(process.pid for process in tool.processes)
            before = {process: cpu_s([process]) for process in processes}
            time.sleep(seconds)
            print(f"{'process':<60}{'MB':>7}{'% of a core':>14}")
            taken = {process: cpu_s([process]) - before[process] for process in processes}
            for process in processes:
                short = [word for word in process.cmdline()[2:] if len(word) < 30]
                show(" ".join(short)[:58], memory([process]), taken[process] / seconds)
            show("together", memory(processes), sum(taken.values()) / seconds)
        finally:
            tool.stop()


def show(name: str, used: int, share: float) -> None:
    print(f"{name:<60}{used / 2**20:>7.0f}{share:>14.2%}")


if __name__ == "__main__":
    main()
