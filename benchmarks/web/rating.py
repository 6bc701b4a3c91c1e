"""How long raters wait: Touchstone and other annotation tools over HTTP, one after the other in each round.

    .venv/bin/python -m benchmarks.web.rating [--raters 1 8 32] [--tools touchstone potato] [--rounds 3]

A step is the six answers of one item and the next item, in the requests that the tool's own page sends.
Raters never pause. Every tool gets fresh data in each round. Each number of raters is measured with new
raters, whose first steps are not counted. Prints a line for each measurement, then medians over the rounds
and the ratio of Touchstone's steps per second to each peer's.

- `web MB` is the memory of the web server's processes, `all MB` that of all that the tool starts. Pages that
  processes share are counted once. PostgreSQL's own memory and processor time are not counted.
- `lost` is how many counted steps are not stored; it must be 0. Below 0, a step failed after it was stored.
- `load CPU` is what the raters themselves took, on the same cores.
- `too often` is how many items got more ratings than they want, or `-` if the tool has no such limit.

Peers are installed from pinned packages into `--environments` (~/.cache/touchstone-benchmarks), on the first
run. They rate fewer items, because some import slowly.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.web.doccano import Doccano
from benchmarks.web.label_studio import LabelStudio
from benchmarks.web.load import Load, drive
from benchmarks.web.potato import Potato
from benchmarks.web.tools import Campaign, Tool
from benchmarks.web.touchstone import SERVERS, Touchstone

PEERS: dict[str, type[Tool]] = {"potato": Potato, "doccano": Doccano, "label-studio": LabelStudio}
COLUMNS = (
    *("steps/s", "step ms", "p95", "request ms", "p95", "errors", "lost", "too often"),
    *("web MB", "all MB", "CPU ms/step", "load CPU ms/step"),
)
ROW = "{:<34}{:>7}{:>9}{:>9}{:>7}{:>12}{:>7}{:>8}{:>6}{:>11}{:>8}{:>8}{:>13}{:>18}"


@dataclass(frozen=True)
class Measurement:
    """The values of a row, in the order of COLUMNS. None is a value that does not apply."""

    values: tuple[float | None, ...]
    notes: tuple[str, ...] = ()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--raters", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--summaries", type=int, default=100_000, help="in Touchstone")
    parser.add_argument("--peer-items", type=int, default=1600, help="in each other tool")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    tools = ["touchstone", *PEERS]
    parser.add_argument("--tools", nargs="+", choices=tools, default=tools)
    parser.add_argument("--databases", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite"])
    parser.add_argument("--postgresql", default="postgres://postgres@127.0.0.1:5432/postgres", metavar="URL")
    parser.add_argument("--server", nargs="+", choices=list(SERVERS), default=["own"])
    parser.add_argument("--environments", type=Path, default=Path("~/.cache/touchstone-benchmarks"))
    options = parser.parse_args()
    wanted = dict(chosen(options))
    for tool in wanted.values():
        tool.install()
    print(
        f"{os.cpu_count()} cores; {options.summaries} items in Touchstone, {options.peer_items} in its peers"
    )
    print(ROW.format("tool", "raters", *COLUMNS))
    rounds: dict[tuple[str, int], list[Measurement]] = defaultdict(list)
    for _ in range(options.rounds):
        for name, tool in wanted.items():
            items = options.summaries if isinstance(tool, Touchstone) else options.peer_items
            for raters, found in measured(tool, items, options.raters, options.seconds):
                rounds[name, raters].append(found)
                print_row(name, raters, found)
    print(f"\nMedians of {options.rounds} rounds")
    print(ROW.format("tool", "raters", *COLUMNS))
    medians = {key: median_of(found) for key, found in rounds.items()}
    for (name, raters), found in medians.items():
        print_row(name, raters, found)
    print_ratios(medians, options.raters)


def chosen(options: argparse.Namespace) -> Iterator[tuple[str, Tool]]:
    """Yield the tools to measure, with a name for each combination of server and database."""
    environments = options.environments.expanduser().resolve()
    for name in options.tools:
        if name in PEERS:
            yield name, PEERS[name](environments)
            continue
        for database in options.databases:
            for server in options.server:
                address = options.postgresql if database == "postgresql" else ""
                yield f"touchstone, {database}, {server}", Touchstone(environments, server, address)


def measured(
    tool: Tool, items: int, raters: Sequence[int], seconds: float
) -> Iterator[tuple[int, Measurement]]:
    """Start the tool on fresh data, let groups of new raters rate one after the other, and stop it."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            tool.start(Path(folder), Campaign(items, sum(raters)))
            web, others = tool.watched()
            first = stored_before = too_often_before = 0
            for number in raters:
                load = drive(tool.sign_in(), range(first, first + number), seconds, web, others)
                stored, too_often = tool.stored(), tool.given_too_often()
                added = None if too_often is None else too_often - too_often_before
                yield number, summarised(load, stored - stored_before, added)
                first, stored_before, too_often_before = first + number, stored, too_often or 0
        finally:
            tool.stop()


def summarised(load: Load, stored: int, given_too_often: int | None) -> Measurement:
    """Return the values of a row."""
    steps = [sum(step) * 1000 for step in load.steps]
    requests = [request * 1000 for step in load.steps for request in step]
    counted = len(steps) + load.warm_up_steps
    values = (
        len(steps) / load.seconds,
        *(statistics.median(steps), percentile_95(steps)),
        *(statistics.median(requests), percentile_95(requests)),
        *(len(load.errors), counted - stored, given_too_often),
        *(load.web_memory / 2**20, load.memory / 2**20),
        *(load.server_cpu_s * 1000 / len(steps), load.own_cpu_s * 1000 / len(steps)),
    )
    notes = [f"first error: {error[:300]}" for error in load.errors[:1]]
    if load.ran_out:
        notes.append(f"ran out of items after {load.seconds:.1f} s; rates are of this time")
    return Measurement(values, tuple(notes))


def percentile_95(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def median_of(measurements: Sequence[Measurement]) -> Measurement:
    columns = zip(*(each.values for each in measurements), strict=True)
    return Measurement(tuple(None if None in column else statistics.median(column) for column in columns))


def print_row(name: str, raters: int, measurement: Measurement) -> None:
    shown = [
        "-" if value is None else f"{value:.{0 if value >= 100 else 1}f}" for value in measurement.values
    ]
    for column in (5, 6, 7, 8, 9):
        value = measurement.values[column]
        shown[column] = "-" if value is None else f"{value:.0f}"
    print(
        ROW.format(name, raters, *shown), *(f"    {note}" for note in measurement.notes), sep="\n", flush=True
    )


def print_ratios(medians: dict[tuple[str, int], Measurement], raters: Sequence[int]) -> None:
    names = list(dict.fromkeys(name for name, _ in medians))
    for ours in (name for name in names if name not in PEERS):
        for peer in (name for name in names if name in PEERS):
            ratios = (medians[ours, n].values[0] / medians[peer, n].values[0] for n in raters)  # type: ignore[operator]
            shown = ", ".join(f"{ratio:.2f} with {n}" for n, ratio in zip(raters, ratios, strict=True))
            print(f"Steps per second of {ours} for one of {peer}: {shown} raters")


if __name__ == "__main__":
    main()
