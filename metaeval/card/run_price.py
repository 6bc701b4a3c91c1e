"""The price of an evaluator's scores, as far as it is recorded."""

import math
from dataclasses import dataclass

from annotation.models import Project
from scoring.models import Run, Setup

NOT_RECORDED = "not recorded: these scores were computed elsewhere and imported"
NO_RUN = "not recorded: no run has finished"
DEFINITION = (
    "Duration of its finished runs, divided by the summaries that they scored. Other runs may have shared the"
    " machine. Tokens and fees are not included."
)


@dataclass(frozen=True)
class RunPrice:
    """The duration of runs; nan if there is a `reason`."""

    seconds: float
    """Duration of all finished runs."""
    summaries: int
    """Scored by these runs, without reused scores."""
    reason: str = ""
    definition: str = DEFINITION

    @property
    def seconds_per_thousand(self) -> float:
        return 1000 * self.seconds / self.summaries if self.summaries else math.nan


def run_price(project: Project, evaluator_key: str) -> RunPrice:
    """Return the price of the setup with this key."""
    setup = Setup.objects.get(project=project, pk=evaluator_key)
    runs = Run.objects.of_scores().filter(setup=setup, status=Run.Status.DONE)
    times = runs.values_list("started_at", "finished_at", "total")
    timed = [
        ((end - begin).total_seconds(), total)
        for begin, end, total in times
        if begin and end and end > begin and total
    ]
    if timed:
        return RunPrice(sum(seconds for seconds, _ in timed), sum(count for _, count in timed))
    return RunPrice(math.nan, 0, NOT_RECORDED if times else NO_RUN)
