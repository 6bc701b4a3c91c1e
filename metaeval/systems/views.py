"""The systems page: the mean labels and mean scores of each system, and its files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from django.http import Http404, HttpResponse
from django.utils.safestring import SafeString, mark_safe

from annotation.models import Project
from annotation.web.request_types import HtmxRequest
from metaeval.charts.system_marks import legend_mark
from metaeval.comparison.comparison import ComparisonTable
from metaeval.comparison.report import comparison_table
from metaeval.live.background import SOON
from metaeval.live.choices import ComparisonChoices, Control
from metaeval.live.controls import controls, picks
from metaeval.live.news import answer, results_view, table_file
from metaeval.live.results_page import ComparedPage, side_by_side
from metaeval.snapshot.arrays import Labels
from metaeval.snapshot.rater_groups import groups_apart
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats.check_choice import check_choice
from metaeval.stats.result import each_once
from metaeval.stats.uncertainty.intervals import ALWAYS_VALID
from metaeval.systems.report import SystemFigure, label_figures, powered_figures, score_figures
from metaeval.systems.texts import MEASURES, TEXT_TITLES, SystemTexts, measured_texts, system_texts, texts_key

NOT_FOR_MEANS = ("level", "coefficient")
"""Choices of the comparison page that do not change a mean."""
PEOPLE = "People"


@dataclass(frozen=True)
class SystemCell:
    """The mean of one system in one column."""

    figure: SystemFigure
    powered: SystemFigure | None
    """The prediction-powered mean, if an evaluator was chosen."""


@dataclass(frozen=True)
class SystemRow:
    """The means of one system."""

    name: str
    mark: SafeString
    cells: Sequence[SystemCell | None]
    """One cell for each column; None if there is no mean."""


@dataclass(frozen=True)
class TextRow:
    """The measures of one system's texts."""

    name: str
    mark: SafeString
    texts: SystemTexts


@dataclass(frozen=True, kw_only=True)
class SystemsPage(ComparedPage):
    columns: Sequence[str]
    rows: Sequence[SystemRow]
    """Mean labels, by dimension."""
    powered_by: str
    """The evaluator behind the prediction-powered means; empty for none."""
    dimension: str
    scorers: Sequence[str]
    """Labels of the evaluators with scores on the dimension."""
    labellers: Sequence[str]
    """Raters whose mean labels stand beside the scores, as the heads of columns."""
    score_rows: Sequence[SystemRow]
    """Mean labels and mean scores on one dimension: first by `labellers`, then by `scorers`."""
    mean_figures: Sequence[SystemFigure]
    """All means of the first table, for its file."""
    score_figures: Sequence[SystemFigure]
    """All means of the second table."""
    n_labelled: int
    text_rows: Sequence[TextRow] | None
    """Measures of the texts, by system; None while they are computed."""

    @property
    def waits(self) -> int:
        return self.text_rows is None

    @property
    def text_columns(self) -> list[str]:
        return list(TEXT_TITLES.values())

    @property
    def left_out_texts(self) -> Mapping[str, Mapping[str, int]]:
        """Return by title of a measure why it has no value for some summaries, and for how many."""
        found: dict[str, dict[str, int]] = {}
        for row in self.text_rows or ():
            for name, result in row.texts.measured.items():
                own = found.setdefault(MEASURES[name].title, {})
                for reason, n in result.left_out.items():
                    own[reason] = own.get(reason, 0) + n
        return {title: own for title, own in found.items() if own}

    @property
    def test(self) -> str:
        """Always empty: systems' means are not tested."""
        return ""

    @property
    def caption(self) -> str:
        """The caption of the table of mean labels."""
        of_group = f", labels of {self.group}" if self.group in self.snapshot.human.groups else ""
        return f"Mean human label of each system on each dimension{of_group}"

    @property
    def titles(self) -> dict[str, str]:
        """The titles of the columns of printed tables; labels have no evaluator."""
        questions = {each.question.dimension: each.question.title for each in self.snapshot.human.questions}
        with_scores = {
            f"{dimension} {self.powered_by}": f"{title}, with {self.powered_by}"
            for dimension, title in questions.items()
        }
        return {"": PEOPLE, **questions, **with_scores}

    @property
    def score_columns(self) -> list[str]:
        return [*self.labellers, *self.scorers]

    @property
    def reasons(self) -> list[str]:
        """Return why some means or intervals of the first table are missing."""
        cells = [cell for part in self.parts for row in part.rows for cell in row.cells if cell]
        figures = [each for cell in cells for each in (cell.figure, cell.powered)]
        return each_once(each.estimate.reason or each.estimate.interval.reason for each in figures if each)


def systems_page(project: Project, choices: ComparisonChoices) -> SystemsPage:
    """Return the page for these choices. Raises DomainError for a choice that does not exist.

    Where groups of raters differ beyond chance and none is chosen, each has a table of its own, and a column
    beside the scores: a mixture would be nobody's answers.
    """
    snapshot = snapshot_of(project)
    groups = groups_apart(snapshot.summaries, snapshot.human, choices.group)
    if not groups:
        return whole_page(project, choices)
    apart = [whole_page(project, replace(choices, group=group)) for group in groups]
    return side_by_side(
        apart,
        choices,
        labellers=groups,
        score_rows=[
            replace(rows[0], cells=[*(row.cells[0] for row in rows), *rows[0].cells[1:]])
            for rows in zip(*(part.score_rows for part in apart), strict=True)
        ],
        n_labelled=max(part.n_labelled for part in apart),
    )


def whole_page(project: Project, choices: ComparisonChoices, wait_s: float | None = SOON) -> SystemsPage:
    """Return the page with one table, for its files. Without a chosen group of raters, all are mixed.

    Measures of texts are left out if they take longer than `wait_s` seconds (None: no limit). Raises as
    `systems_page`.
    """
    snapshot = snapshot_of(project)
    table = comparison_table(snapshot, choices, choices.method(is_live=snapshot.is_live))
    means, powered = _means(table, choices, snapshot)
    scores = _scores(table, choices, snapshot)
    shown = _question(table, choices)
    evaluators = [(each.key, each.label) for each in table.comparison.evaluators]
    questions = [(column.labels.key, column.labels.title) for column in table.columns]
    mean_figures = [each for column in (*means, *powered) for each in column]
    score_figures = [each for column in scores for each in column]
    page = SystemsPage(
        snapshot=snapshot,
        choices=choices,
        controls=[
            *(each for each in controls(snapshot, choices) if each.name not in NOT_FOR_MEANS),
            Control("evaluator", "Use scores of", [("", "none"), *evaluators], choices.evaluator),
            Control("question", "Scores on", questions, shown.key),
        ],
        picks=picks(snapshot, choices),
        columns=[column.labels.title for column in table.columns],
        rows=_rows(snapshot, means, powered),
        powered_by=dict(evaluators).get(choices.evaluator, ""),
        dimension=shown.title,
        scorers=[column[0].evaluator.label for column in scores if column and column[0].evaluator],
        labellers=[PEOPLE],
        score_rows=_rows(snapshot, scores, [[] for _ in scores]),
        mean_figures=mean_figures,
        score_figures=score_figures,
        seen=table.comparison.seen,
        definitions=each_once(
            [
                *(sentence for each in (*mean_figures, *score_figures) for sentence in each.definitions),
                *(each.definition for each in MEASURES.values()),
            ]
        ),
        n_labelled=max((sum(each.estimate.labelled for each in column) for column in means), default=0),
        text_rows=None,
    )
    measured = measured_texts(project, snapshot, wait_s)
    if measured is None:
        return page
    found = system_texts(snapshot.summaries, measured, page.chosen_summaries)
    return replace(
        page, text_rows=[TextRow(each.system, _mark(snapshot, each.system), each) for each in found]
    )


def _means(
    table: ComparisonTable, choices: ComparisonChoices, snapshot: Snapshot
) -> tuple[list[list[SystemFigure]], list[list[SystemFigure]]]:
    """Return by dimension the means of labels, and the prediction-powered means."""
    comparison = table.comparison
    keys = tuple(each.key for each in comparison.evaluators)
    check_choice("evaluator", choices.evaluator, ("", *keys))
    helper = next((each for each in comparison.evaluators if each.key == choices.evaluator), None)
    labels = [column.labels for column in table.columns]
    chances, always = snapshot.draw_chances, table.method.interval == ALWAYS_VALID
    powered = [
        powered_figures(comparison, each, helper, chances, at_every_look=always) if helper else []
        for each in labels
    ]
    return [label_figures(comparison, each, chances, at_every_look=always) for each in labels], powered


def _scores(
    table: ComparisonTable, choices: ComparisonChoices, snapshot: Snapshot
) -> list[list[SystemFigure]]:
    """Return the means on the chosen dimension: of labels, then of each evaluator's scores."""
    labels = _question(table, choices)
    by_evaluator = (
        score_figures(table.comparison, labels.dimension, each) for each in table.comparison.evaluators
    )
    always = table.method.interval == ALWAYS_VALID
    means = label_figures(table.comparison, labels, snapshot.draw_chances, at_every_look=always)
    return [means, *(each for each in by_evaluator if each)]


def _question(table: ComparisonTable, choices: ComparisonChoices) -> Labels:
    """Return the labels of the chosen question, or of the first if that is not shown."""
    labels = [column.labels for column in table.columns]
    return next((each for each in labels if each.key == choices.question), labels[0])


def _rows(
    snapshot: Snapshot, columns: Sequence[Sequence[SystemFigure]], powered: Sequence[Sequence[SystemFigure]]
) -> list[SystemRow]:
    """Return the rows of columns with the same systems."""
    names = [figure.system for figure in next((column for column in columns if column), [])]
    return [
        SystemRow(
            name,
            _mark(snapshot, name),
            [
                SystemCell(column[place], helped[place] if helped else None) if column else None
                for column, helped in zip(columns, powered, strict=True)
            ],
        )
        for place, name in enumerate(names)
    ]


def _mark(snapshot: Snapshot, system: str) -> SafeString:
    return mark_safe(legend_mark(snapshot.summaries.system_names.index(system)))  # noqa: S308 - a number


@results_view(ComparisonChoices)
def systems(request: HtmxRequest, project: Project, choices: ComparisonChoices) -> HttpResponse:
    waits_for = [texts_key(project, project.revision)]
    page = partial(systems_page, project, choices)
    return answer(request, project, "metaeval/systems/systems.html", page, waits_for)


@results_view(ComparisonChoices)
def systems_table(
    _request: HtmxRequest, project: Project, choices: ComparisonChoices, name: str, kind: str
) -> HttpResponse:
    """Download mean labels, with and without scores, mean scores, or measures of texts.

    As CSV, LaTeX or Markdown.
    """
    page = whole_page(project, choices, wait_s=None if name == "texts" else SOON)
    if name == "texts":
        rows = [row for each in page.text_rows or () for row in each.texts.as_json()]
        file = f"{project.slug}-system-texts"
        return table_file(rows, file, kind, down="system", across=("what",), n="n", titles=TEXT_TITLES)
    tables: dict[str, tuple[Sequence[SystemFigure], Sequence[str]]] = {
        "labels": (page.mean_figures, ("dimension", "evaluator")),
        "scores": (page.score_figures, ("evaluator",)),
    }
    if name not in tables:
        raise Http404(f"no table is called {name}")
    figures, across = tables[name]
    return table_file(
        [each.as_json() for each in figures],
        f"{project.slug}-system-{name}",
        kind,
        down="system",
        across=across,
        n="labelled",
        titles=page.titles,
    )
