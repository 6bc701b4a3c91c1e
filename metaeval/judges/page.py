"""The page of a judge: menus, chart and definitions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from metaeval.charts import Measured, interval_dots
from metaeval.judges.figures import MEASURES, RESAMPLING
from metaeval.judges.report import JudgeReport
from metaeval.live.choices import Control
from metaeval.snapshot.snapshot import Snapshot
from metaeval.stats.result import each_once

MOST_ROWS = 20
"""The chart shows the latest versions; the table shows all."""


@dataclass(frozen=True, eq=False)
class JudgePage:
    report: JudgeReport
    controls: Sequence[Control]

    @property
    def chart(self) -> SafeString | None:
        """The chart of versions in order, with intervals and the human ceiling."""
        report = self.report
        drawn = [
            Measured.of(f"v{row.version.number}", row.tuning) for row in report.rows if row.tuning is not None
        ][-MOST_ROWS:]
        if report.question is None or report.measured is None or not drawn:
            return None
        if report.baseline:
            drawn.append(Measured.of(*report.baseline))
        ceiling = report.measured.ceiling
        return mark_safe(  # noqa: S308 - charts escape all names
            interval_dots(
                drawn,
                title=f"Agreement of {report.judge.name} with people by version, {report.question.title}",
                value_title=f"{self.measure}, tuning part",
                zero=ceiling.value if ceiling else None,
                zero_title=f"one rater {ceiling.value:.3f}" if ceiling else "",
            )
        )

    @property
    def measure(self) -> str:
        return MEASURES[self.report.choices.measure]

    @property
    def bias(self) -> float | None:
        """The bias of the best version; None if unknown."""
        return None if math.isnan(self.report.best_of_many_bias) else self.report.best_of_many_bias

    @property
    def snapshot(self) -> Snapshot:
        return self.report.snapshot

    @property
    def looks(self) -> str:
        """Return 'one' if the page shows intervals, which are for a single look; empty without any."""
        shown = [estimate for row in self.report.rows for estimate in (row.tuning, row.sealed)]
        shown += [estimate for _, estimate in self.report.compared_with]
        return "one" if any(each and each.interval and not each.interval.reason for each in shown) else ""

    @property
    def definitions(self) -> list[str]:
        """Return the definitions of all numbers on the page, each sentence once."""
        measured = self.report.measured
        if measured is None:
            return []
        estimates = [*measured.tuning.estimates.values(), *measured.sealed.values()]
        estimates += [measured.ceiling] if measured.ceiling else []
        found = [measured.tuning.labels.definition]
        for estimate in estimates:
            found.append(estimate.definition)
            if estimate.interval:
                found.append(estimate.interval.definition)
        if self.bias is not None:
            found.append(
                f"Bias of the best version: the versions' values in {RESAMPLING.resamples:,} common resamples"
                " are shifted to the same mean, as if all were equally good; the mean over resamples of the"
                " highest one."
            )
        if self.snapshot.is_live and self.looks:
            found.append("Intervals are for a single look at the ratings.")
        return each_once(found)


def judge_page(report: JudgeReport) -> JudgePage:
    question = report.question
    controls = [Control("measure", "Measure", list(MEASURES.items()), report.choices.measure)]
    if question is not None:
        questions = [(each.key, each.title) for each in report.questions]
        controls.insert(0, Control("question", "Question", questions, question.key))
    return JudgePage(report, controls)
