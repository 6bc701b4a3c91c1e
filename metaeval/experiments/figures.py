"""The charts of an experiment: rows of members, or lines if the members are numbers."""

from collections.abc import Sequence

import numpy as np

from metaeval.charts import Measured, MemberGroup, Range, member_line, member_rows
from metaeval.charts.parts import nice_range
from metaeval.comparison.comparison import GUARD
from metaeval.experiments.following import Followed
from metaeval.experiments.report import MemberFigure, QuestionFigures
from metaeval.experiments.values import as_numbers
from metaeval.export.chart import Chart, FileRows
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from scoring.models import Experiment

FEWEST_FOR_A_LINE = 3


def experiment_charts(
    followed: Followed, questions: Sequence[QuestionFigures], *, intervals: str = ""
) -> list[Chart]:
    """Return one chart with all questions, or a line chart for each if the members are numbers.

    `intervals` is a remark on the intervals; empty for those of this revision.
    """
    if not questions:
        return []
    if is_line(followed.experiment, questions):
        span = _span(questions)
        return [_line(followed, question, span, intervals) for question in questions]
    return [_rows(followed, questions, intervals)]


def is_line(experiment: Experiment, questions: Sequence[QuestionFigures]) -> bool:
    """Return whether to draw lines: for three or more numbers that are not seeds."""
    labels = max(([each.member for each in question.figures] for question in questions), key=len, default=[])
    return (
        experiment.kind != Experiment.Kind.SEEDS
        and len(labels) >= FEWEST_FOR_A_LINE
        and as_numbers(labels) is not None
    )


def _rows(followed: Followed, questions: Sequence[QuestionFigures], intervals: str) -> Chart:
    experiment = followed.experiment
    of_seeds = experiment.kind == Experiment.Kind.SEEDS
    first = questions[0].figures[0].figure
    dots = f"Dots: values of {followed.varies}" if experiment.parameter else "Dots: members"
    caption = [dots, "lines: 95% intervals" + (f" ({intervals})" if intervals else "")]
    caption += [
        "shade: range over the seeds",
        "behind a question: their mean ± standard deviation",
    ] * of_seeds
    return Chart(
        "members",
        (experiment.name, first.level, first.coefficient),
        lambda: member_rows(
            [
                MemberGroup(
                    question.labels.title,
                    [_measured(each) for each in question.figures],
                    question.spread if of_seeds else None,
                )
                for question in questions
            ],
            title=f"{experiment.name}: agreement with human labels",
            value_title=_value_title(first.level, first.coefficient),
            left_out=GUARD,
        ),
        lambda: figure_rows(questions),
        "; ".join(caption) + ".",
    )


def _line(followed: Followed, question: QuestionFigures, span: Range, intervals: str) -> Chart:
    first = question.figures[0].figure
    numbered = sorted(((float(each.member), each) for each in question.figures), key=lambda pair: pair[0])
    experiment = followed.experiment
    return Chart(
        f"members-{question.labels.key}",
        (experiment.name, first.level, first.coefficient),
        lambda: member_line(
            [number for number, _ in numbered],
            [_measured(each) for _, each in numbered],
            span,
            title=f"{experiment.name}: agreement with human labels, {question.labels.title}",
            across_title=followed.varies,
            up_title=_value_title(first.level, first.coefficient),
            left_out=GUARD,
        ),
        lambda: figure_rows([question]),
        f"{question.labels.title} by {followed.varies}; band: 95% intervals"
        + (f" ({intervals})." if intervals else "."),
    )


def figure_rows(questions: Sequence[QuestionFigures]) -> FileRows:
    """Return every figure as a row of a file, by question."""
    return [each.as_json() for question in questions for each in question.figures]


def _span(questions: Sequence[QuestionFigures]) -> Range:
    """Return the range of all questions, so that their charts can be compared."""
    rows = [_measured(each) for question in questions for each in question.figures]
    numbers = np.array([number for row in rows for number in (row.value, row.low, row.high)])
    numbers = numbers[~np.isnan(numbers)]
    return nice_range(numbers) if len(numbers) else Range(0, 1)


def _measured(each: MemberFigure) -> Measured:
    return Measured.of(each.member, each.figure.estimate)


def _value_title(level: str, coefficient: str) -> str:
    return f"{COEFFICIENTS[coefficient].label}, {LEVELS[level].label}"
