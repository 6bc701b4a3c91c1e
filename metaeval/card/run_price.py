"""The price of an evaluator's scores, as far as it is recorded."""

import math
from dataclasses import dataclass
from decimal import Decimal

from annotation.models import Project
from scoring.models import Run, Score, Setup

NOT_RECORDED = "not recorded: these scores were computed elsewhere and imported"
NO_RUN = "not recorded: no run has finished"
DEFINITION = (
    "Duration of its finished runs, divided by the scores that they computed; a summary that two runs scored"
    " counts in both. Other runs may have shared the machine. Tokens and dollars are those of the replies"
    " that these runs received, as the endpoint reports them; other costs are not included."
)


@dataclass(frozen=True)
class RunPrice:
    """The duration of runs; nan if there is a `reason`."""

    seconds: float
    """Duration of all finished runs."""
    scored: int
    """Summaries scored by these runs, without reused scores; one that two runs scored counts twice."""
    summaries: int
    """Different summaries among them with a score of these runs."""
    tokens: int = 0
    """Tokens of prompts and completions; 0 without requests to a model."""
    dollars: Decimal = Decimal(0)
    """Cost in US dollars; 0 for those who see published results only."""
    reason: str = ""
    definition: str = DEFINITION

    @property
    def seconds_per_thousand(self) -> float:
        return 1000 * self.seconds / self.scored if self.scored else math.nan


def run_price(project: Project, evaluator_key: str) -> RunPrice:
    """Return the price of the setup with this key."""
    setup = Setup.objects.get(project=project, pk=evaluator_key)
    runs = Run.objects.of_scores().filter(setup=setup, status=Run.Status.DONE)
    timed = {
        run: (run.finished_at - run.started_at).total_seconds()
        for run in runs
        if run.started_at and run.finished_at and run.finished_at > run.started_at and run.total
    }
    if not timed:
        return RunPrice(math.nan, 0, 0, reason=NOT_RECORDED if runs else NO_RUN)
    return RunPrice(
        seconds=sum(timed.values()),
        scored=sum(run.total for run in timed),
        summaries=Score.objects.filter(run__in=timed).values("summary").distinct().count(),
        tokens=sum(run.prompt_tokens + run.completion_tokens for run in timed),
        dollars=Decimal(0) if project.only_published else sum((run.spent for run in timed), Decimal(0)),
    )
