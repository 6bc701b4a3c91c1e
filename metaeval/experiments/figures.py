"""The drawings of an experiment: rows of members, or lines where what varies is a number."""

from collections.abc import Sequence

import numpy as np

from metaeval.charts import Measured, MemberGroup, Range, member_line, member_rows
from metaeval.charts.parts import nice_range
from metaeval.comparison import GUARD
from metaeval.experiments.report import MemberFigure, QuestionFigures
from metaeval.export.chart import Chart, Rows
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from scoring.families.values import as_numbers
from scoring.models import RunFamily

FEWEST_FOR_A_LINE = 3


def experiment_charts(
    family: RunFamily, questions: Sequence[QuestionFigures], *, intervals: str = ""
) -> list[Chart]:
    """One drawing with all questions, or one for each where the members are numbers in their order.

    `intervals` says what there is to say of the intervals that are drawn; empty for those of this revision.
    """
    if not questions:
        return []
    if is_line(family, questions):
        span = _span(questions)
        return [_line(family, question, span, intervals) for question in questions]
    return [_rows(family, questions, intervals)]


def is_line(family: RunFamily, questions: Sequence[QuestionFigures]) -> bool:
    """Whether it is drawn as lines: three numbers or more that are no seeds."""
    labels = max(([each.member for each in question.figures] for question in questions), key=len, default=[])
    return (
        family.kind != RunFamily.Kind.SEEDS
        and len(labels) >= FEWEST_FOR_A_LINE
        and as_numbers(labels) is not None
    )


def _rows(family: RunFamily, questions: Sequence[QuestionFigures], intervals: str) -> Chart:
    of_seeds = family.kind == RunFamily.Kind.SEEDS
    first = questions[0].figures[0].figure
    caption = ["Dots: members", "lines: 95% intervals" + (f" ({intervals})" if intervals else "")]
    caption += [
        "shade: range over the seeds",
        "behind a question: their mean ± standard deviation",
    ] * of_seeds
    return Chart(
        "members",
        (family.name, first.level, first.coefficient),
        lambda: member_rows(
            [
                MemberGroup(
                    question.labels.title,
                    [_measured(each) for each in question.figures],
                    question.spread if of_seeds else None,
                )
                for question in questions
            ],
            title=f"{family.name}: agreement with human labels",
            value_title=_value_title(first.level, first.coefficient),
            left_out=GUARD,
        ),
        lambda: figure_rows(questions),
        "; ".join(caption) + ".",
    )


def _line(family: RunFamily, question: QuestionFigures, span: Range, intervals: str) -> Chart:
    first = question.figures[0].figure
    numbered = sorted(((float(each.member), each) for each in question.figures), key=lambda pair: pair[0])
    varies = family.parameter or family.get_kind_display()
    return Chart(
        f"members-{question.labels.key}",
        (family.name, first.level, first.coefficient),
        lambda: member_line(
            [number for number, _ in numbered],
            [_measured(each) for _, each in numbered],
            span,
            title=f"{family.name}: agreement with human labels, {question.labels.title}",
            across_title=varies.replace("_", " "),
            up_title=_value_title(first.level, first.coefficient),
            left_out=GUARD,
        ),
        lambda: figure_rows([question]),
        f"{question.labels.title}; band: 95% intervals" + (f" ({intervals})." if intervals else "."),
    )


def figure_rows(questions: Sequence[QuestionFigures]) -> Rows:
    """Every figure as a row of a file, question by question."""
    return [each.as_json() for question in questions for each in question.figures]


def _span(questions: Sequence[QuestionFigures]) -> Range:
    """Of the values and ends of all questions, so that their drawings can be compared."""
    rows = [_measured(each) for question in questions for each in question.figures]
    numbers = np.array([number for row in rows for number in (row.value, row.low, row.high)])
    numbers = numbers[~np.isnan(numbers)]
    return nice_range(numbers) if len(numbers) else Range(0, 1)


def _measured(each: MemberFigure) -> Measured:
    return Measured.of(each.member, each.figure.estimate)


def _value_title(level: str, coefficient: str) -> str:
    return f"{COEFFICIENTS[coefficient].label}, {LEVELS[level].label}"
