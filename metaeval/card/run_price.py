"""What an evaluator's scores have cost, as far as it is recorded."""

import math
from dataclasses import dataclass

from annotation.models import Project
from scoring.models import EvaluatorSetup, Run

NOT_RECORDED = "not recorded: these scores were computed elsewhere and imported"
NO_RUN = "not recorded: no run of it has finished"
DEFINITION = (
    "Time from start to end of its finished runs, over the summaries scored in them; other runs may have"
    " taken turns with it on the same machine. Tokens and fees are not recorded."
)


@dataclass(frozen=True)
class RunPrice:
    """nan where there is a `reason`."""

    seconds: float
    """Of all finished runs, on the clock."""
    summaries: int
    """Scored in them, not taken over from earlier ones."""
    reason: str = ""
    definition: str = DEFINITION

    @property
    def seconds_per_thousand(self) -> float:
        return 1000 * self.seconds / self.summaries if self.summaries else math.nan


def run_price(project: Project, evaluator_key: str) -> RunPrice:
    """The price of the setup that has this key."""
    setup = EvaluatorSetup.objects.get(project=project, pk=evaluator_key)
    runs = Run.objects.filter(setup=setup, status=Run.Status.DONE).values_list(
        "started_at", "finished_at", "total"
    )
    timed = [
        ((end - begin).total_seconds(), total)
        for begin, end, total in runs
        if begin and end and end > begin and total
    ]
    if timed:
        return RunPrice(sum(seconds for seconds, _ in timed), sum(count for _, count in timed))
    return RunPrice(math.nan, 0, NOT_RECORDED if runs else NO_RUN)
