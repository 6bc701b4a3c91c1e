"""What the pages of aligning a judge show beside the figures: choices, chart, warnings."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from metaeval.alignment.figures import MEASURES, RESAMPLES
from metaeval.alignment.report import JudgeReport
from metaeval.charts import Measured, interval_dots
from metaeval.choices import Control

MOST_ROWS = 20
"""Versions drawn, the latest; all are in the table."""


@dataclass(frozen=True, eq=False)
class JudgePage:
    report: JudgeReport
    controls: Sequence[Control]

    @property
    def chart(self) -> SafeString | None:
        """The versions' dots with their intervals, in their order, with the ceiling as a line."""
        report = self.report
        drawn = [
            Measured.of(f"v{row.version.number}", row.tuning) for row in report.rows if row.tuning is not None
        ][-MOST_ROWS:]
        if report.question is None or report.measured is None or not drawn:
            return None
        if report.baseline:
            drawn.append(Measured.of(*report.baseline))
        ceiling = report.measured.ceiling
        return mark_safe(
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
    def luck(self) -> float | None:
        return None if math.isnan(self.report.luck) else self.report.luck

    @property
    def definitions(self) -> list[str]:
        """Of every number on the page, each sentence once."""
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
        if self.luck is not None:
            found.append(
                "What the best shows by luck: each version's values in the same"
                f" {RESAMPLES:,} resamples are moved to the same mean, as if all were equally good; the mean"
                " over resamples of the highest one."
            )
        return list(dict.fromkeys(found))


def judge_page(report: JudgeReport) -> JudgePage:
    question = report.question
    controls = [Control("measure", "Measure", list(MEASURES.items()), report.choices.measure)]
    if question is not None:
        questions = [(each.key, each.title) for each in report.questions]
        controls.insert(0, Control("question", "Question", questions, question.key))
    return JudgePage(report, controls)
