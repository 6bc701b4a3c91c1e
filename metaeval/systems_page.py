"""The systems page: mean labels and mean scores of each system, and what is said about them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from annotation.models import Project
from metaeval.charts.system_marks import legend_mark
from metaeval.choices import Control, MetaevalChoices
from metaeval.comparison import MetaevalTable
from metaeval.judgements import Labels
from metaeval.metaeval_controls import Picks, controls, picks
from metaeval.metaeval_report import metaeval_table
from metaeval.refuse_unknown import refuse_unknown
from metaeval.snapshot import Snapshot, snapshot_of
from metaeval.systems_report import SystemFigure, label_figures, powered_figures, score_figures

OF_NO_USE_HERE = ("level", "coefficient")
"""Choices of the meta-evaluation page that change nothing about a mean."""


@dataclass(frozen=True)
class SystemCell:
    """What one column says of one system."""

    figure: SystemFigure
    powered: SystemFigure | None
    """The same with the help of scores, if that was asked for."""


@dataclass(frozen=True)
class SystemRow:
    name: str
    mark: SafeString
    cells: Sequence[SystemCell | None]
    """None where there is no such figure."""


@dataclass(frozen=True)
class SystemsPage:
    snapshot: Snapshot
    choices: MetaevalChoices
    controls: Sequence[Control]
    picks: Sequence[Picks]
    columns: Sequence[str]
    rows: Sequence[SystemRow]
    """Mean labels, by dimension."""
    powered_by: str
    """Whose scores help; empty for nobody's."""
    dimension: str
    scorers: Sequence[str]
    score_rows: Sequence[SystemRow]
    """Mean labels and mean scores on one dimension, by evaluator."""
    seen: dict[str, int]
    definitions: Sequence[str]
    n_labelled: int

    @property
    def score_columns(self) -> list[str]:
        return ["People", *self.scorers]

    @property
    def reasons(self) -> list[str]:
        """Why some means or intervals of the first table are not there."""
        figures = [
            each for row in self.rows for cell in row.cells if cell for each in (cell.figure, cell.powered)
        ]
        reasons = (each.estimate.reason or each.estimate.interval.reason for each in figures if each)
        return list(dict.fromkeys(reason for reason in reasons if reason))


def systems_page(project: Project, choices: MetaevalChoices) -> SystemsPage:
    """The page for these choices. Raises DomainError for a choice that does not exist."""
    snapshot = snapshot_of(project)
    table = metaeval_table(snapshot, choices, choices.method)
    means, powered = _means(table, choices)
    scores = _scores(table, choices)
    shown = _question(table, choices)
    evaluators = [(each.key, each.label) for each in table.comparison.evaluators]
    questions = [(column.labels.key, column.labels.title) for column in table.columns]
    every = [each for columns in (means, powered, scores) for column in columns for each in column]
    return SystemsPage(
        snapshot=snapshot,
        choices=choices,
        controls=[
            *(each for each in controls(snapshot, choices) if each.name not in OF_NO_USE_HERE),
            Control("evaluator", "Helped by the scores of", [("", "nobody"), *evaluators], choices.evaluator),
            Control("question", "Scores on", questions, shown.key),
        ],
        picks=picks(snapshot, choices),
        columns=[column.labels.title for column in table.columns],
        rows=_rows(snapshot, means, powered),
        powered_by=dict(evaluators).get(choices.evaluator, ""),
        dimension=shown.title,
        scorers=[column[0].evaluator.label for column in scores if column and column[0].evaluator],
        score_rows=_rows(snapshot, scores, [[] for _ in scores]),
        seen=table.comparison.seen,
        definitions=list(dict.fromkeys(sentence for each in every for sentence in each.definitions)),
        n_labelled=max((sum(each.estimate.labelled for each in column) for column in means), default=0),
    )


def mean_rows(project: Project, choices: MetaevalChoices) -> list[dict[str, object]]:
    """The table of mean labels, as rows of a file. Raises DomainError for a choice that does not exist."""
    table = metaeval_table(snapshot_of(project), choices, choices.method)
    means, powered = _means(table, choices)
    return [each.as_json() for column in (*means, *powered) for each in column]


def score_rows(project: Project, choices: MetaevalChoices) -> list[dict[str, object]]:
    """The table of mean scores, as rows of a file. Raises DomainError for a choice that does not exist."""
    table = metaeval_table(snapshot_of(project), choices, choices.method)
    return [each.as_json() for column in _scores(table, choices) for each in column]


def _means(
    table: MetaevalTable, choices: MetaevalChoices
) -> tuple[list[list[SystemFigure]], list[list[SystemFigure]]]:
    """By dimension: the means of labels alone, and those helped by the scores of the chosen evaluator."""
    comparison = table.comparison
    keys = tuple(each.key for each in comparison.evaluators)
    refuse_unknown("evaluator", choices.evaluator, ("", *keys))
    helper = next((each for each in comparison.evaluators if each.key == choices.evaluator), None)
    labels = [column.labels for column in table.columns]
    powered = [powered_figures(comparison, each, helper) if helper else [] for each in labels]
    return [label_figures(comparison, each) for each in labels], powered


def _scores(table: MetaevalTable, choices: MetaevalChoices) -> list[list[SystemFigure]]:
    """On the chosen dimension: the means of labels, then those of the scores of each evaluator."""
    labels = _question(table, choices)
    by_evaluator = (
        score_figures(table.comparison, labels.dimension, each) for each in table.comparison.evaluators
    )
    return [label_figures(table.comparison, labels), *(each for each in by_evaluator if each)]


def _question(table: MetaevalTable, choices: MetaevalChoices) -> Labels:
    """The chosen dimension or, if it is not shown, the first."""
    labels = [column.labels for column in table.columns]
    return next((each for each in labels if each.key == choices.question), labels[0])


def _rows(
    snapshot: Snapshot,
    columns: Sequence[Sequence[SystemFigure]],
    powered: Sequence[Sequence[SystemFigure]],
) -> list[SystemRow]:
    """Columns of the same systems, laid out by system."""
    names = [figure.system for figure in next((column for column in columns if column), [])]
    return [
        SystemRow(
            name,
            mark_safe(legend_mark(snapshot.summaries.system_names.index(name))),
            [
                SystemCell(column[place], helped[place] if helped else None) if column else None
                for column, helped in zip(columns, powered, strict=True)
            ],
        )
        for place, name in enumerate(names)
    ]
