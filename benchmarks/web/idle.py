"""What Touchstone takes while nobody uses it: `.venv/bin/python -m benchmarks.web.idle [--seconds 120]`.

Starts what `script/up` starts, lets it settle, and prints the memory of each process and its share of a core
over the seconds. Pages that processes share are counted once. Then it adds what a busy month leaves where the
sweep looks for work (finished runs, imports, trainings, rechecks and deliveries), and measures again.
"""

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.web.load import cpu_s, memory, tree
from benchmarks.web.tools import Campaign
from benchmarks.web.touchstone import Touchstone

SETTLING_S = 30
MONTH = """
from datetime import timedelta
from django.utils import timezone
from annotation.models import Event, ImportJob, Project
from scoring.models import Batch, RecheckSchedule, Run, Setup, Training, Webhook, WebhookDelivery
now = timezone.now()
def past(number, of):
    return now - timedelta(days=29) * (1 - number / of)
project = Project.objects.get()
setups = Setup.objects.bulk_create(
    Setup(project=project, evaluator="length", label=name, params={}, signature=name, fingerprint=name)
    for name in map(str, range(SETUPS))
)
RecheckSchedule.objects.bulk_create(RecheckSchedule(setup=setup, every_days=90) for setup in setups[::10])
runs = Run.objects.bulk_create(
    Run(setup=setups[n % SETUPS], status="done", total=SIZE * BATCHES, has_changed=False,
        kind="drift" if n % 10 == 9 else "scores", finished_at=past(n, RUNS))
    for n in range(RUNS)
)
Batch.objects.bulk_create(
    (
        Batch(run=run, number=n, summary_ids=[*range(SIZE)], size=SIZE, finished_at=run.finished_at)
        for run in runs
        for n in range(BATCHES)
    ),
    batch_size=5000,
)
Training.objects.bulk_create(
    Training(project=project, name=f"t{n}", method="seahorse", status="done", finished_at=past(n, TRAININGS))
    for n in range(TRAININGS)
)
ImportJob.objects.bulk_create(
    ImportJob(
        project=project, format="examples", file_name=f"f{n}", status="done", finished_at=past(n, IMPORTS)
    )
    for n in range(IMPORTS)
)
webhook = Webhook.objects.create(project=project, address="https://example.org/", kinds=["rating.finished"])
events = Event.objects.bulk_create(
    (
        Event(project=project, kind="rating.finished", at=past(n, EVENTS), is_handed_out=True)
        for n in range(EVENTS)
    ),
    batch_size=5000,
)
WebhookDelivery.objects.bulk_create(
    (
        WebhookDelivery(webhook=webhook, event=each, attempts=1, delivered_at=each.at, last_status=200)
        for each in events
    ),
    batch_size=5000,
)
"""
ROWS = {
    "SETUPS": 300,
    "RUNS": 600,
    "BATCHES": 500,
    "SIZE": 16,
    "TRAININGS": 300,
    "IMPORTS": 3000,
    "EVENTS": 100_000,
}
"""BATCHES counts those of a run, and SIZE the summaries of a batch."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    seconds = parser.parse_args().seconds
    tool = Touchstone(Path(), "own")
    with tempfile.TemporaryDirectory() as folder:
        try:
            tool.start(Path(folder), Campaign(0, 0))
            measure(tool, "on empty data", seconds)
            tool.shell("".join(f"{name} = {count}\n" for name, count in ROWS.items()) + MONTH)
            measure(tool, "after a month", seconds)
        finally:
            tool.stop()


def measure(tool: Touchstone, when: str, seconds: float) -> None:
    time.sleep(SETTLING_S)
    processes = tree(process.pid for process in tool.processes)
    before = {process: cpu_s([process]) for process in processes}
    time.sleep(seconds)
    taken = {process: cpu_s([process]) - before[process] for process in processes}
    print(f"{when:<60}{'MB':>7}{'% of a core':>14}")
    for process in processes:
        short = [word for word in process.cmdline()[2:] if len(word) < 30]
        show(" ".join(short)[:58], memory([process]), taken[process] / seconds)
    show("together", memory(processes), sum(taken.values()) / seconds)


def show(name: str, used: int, share: float) -> None:
    print(f"{name:<60}{used / 2**20:>7.0f}{share:>14.2%}")


if __name__ == "__main__":
    main()
