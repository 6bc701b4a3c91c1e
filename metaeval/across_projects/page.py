"""The page of evaluators across projects."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from urllib.parse import urlencode

from annotation.permissions import Person
from annotation.templatetags.figures import noun
from metaeval.across_projects.data_sets import (
    BY,
    AcrossChoices,
    ChosenDataSet,
    ChosenProject,
    asked_keys,
    dimension_of,
    figures_key,
    figures_of,
    others_for,
    parts_of,
    title_of,
)
from metaeval.across_projects.report import AcrossRow, AcrossTable, DataSetFigure, across_table
from metaeval.charts import Measured, interval_dots
from metaeval.charts.heat_table import HeatCell, heat
from metaeval.comparison.comparison import GUARD
from metaeval.comparison.page import sample_size
from metaeval.export.chart import Chart
from metaeval.live.background import SOON, Key
from metaeval.live.choices import Control
from metaeval.live.controls import (
    Picks,
    coefficient_control,
    constant_control,
    labels_control,
    level_control,
)
from metaeval.live.results_page import MISSING, ResultsPage
from metaeval.snapshot.arrays import ALL
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.result import each_once, or_none
from metaeval.templatetags.results import short_range


@dataclass(frozen=True)
class Cell:
    """One evaluator in one data set."""

    figure: DataSetFigure | None
    """The figure; None if the evaluator has no scores there."""
    is_pending: bool
    heat: int | None
    below: str
    """Sample size, or why there is no value."""
    interval: str
    address: str
    """The same figure on the comparison page of its project."""


@dataclass(frozen=True)
class Line:
    """One evaluator in the table of the page."""

    row: AcrossRow
    paired: Sequence[tuple[Cell, ChosenDataSet]]
    """The cell of each data set, and the data set."""
    mean: HeatCell


@dataclass(frozen=True, kw_only=True)
class AcrossPage(ResultsPage):
    choices: AcrossChoices
    picks: Sequence[Picks]
    chosen: Sequence[ChosenProject]
    question_title: str
    common: Sequence[tuple[str, str, bool]]
    """Titles of the questions that all projects ask, the query that chooses each, whether it is chosen."""
    parts_shown: Sequence[ChosenDataSet]
    table: AcrossTable
    lines: Sequence[Line]
    drawn: AcrossRow | None
    """The evaluator in the chart."""
    waits_for: int

    @property
    def waits(self) -> int:
        return self.waits_for

    @property
    def level(self) -> str:
        return LEVELS[self.choices.level].label

    @property
    def coefficient(self) -> str:
        return COEFFICIENTS[self.choices.coefficient].label

    @property
    def n_ratings(self) -> int:
        """The ratings that count in all projects."""
        return sum(each.snapshot.n_ratings for each in self.chosen)

    @property
    def without_question(self) -> list[str]:
        """The names of projects in which no question was chosen."""
        return [each.project.name for each in self.chosen if not each.question]

    @property
    def live(self) -> list[str]:
        """The names of projects in which more ratings may come."""
        return [each.project.name for each in self.chosen if each.snapshot.is_live]

    @property
    def label_warnings(self) -> list[tuple[str, str]]:
        """Data sets whose labels mix groups of raters that differ, and the warning of each."""
        found = [each.data_set for each in self.parts_shown]
        return [(each.name, each.label_warning) for each in found if each.label_warning]

    @property
    def why_no_mean(self) -> list[str]:
        """The reasons for missing means, each once, with the evaluators."""
        named: dict[str, list[str]] = {}
        for row in self.table.rows:
            if row.mean.reason and not self.waits:
                named.setdefault(row.mean.reason, []).append(row.evaluator.label)
        everyone = len(self.table.rows)
        return [
            reason if len(labels) == everyone else f"{', '.join(labels)}: {reason}"
            for reason, labels in named.items()
        ]

    @property
    def has_letters(self) -> bool:
        return any(row.cluster for row in self.table.rows)

    @property
    def chosen_questions(self) -> Sequence[str]:
        own = self.chosen[0].question
        return [own] if own else ()

    @property
    def charts(self) -> Sequence[Chart]:
        return [_forest(self.table, self.drawn)] if self.drawn else ()

    @property
    def paragraphs(self) -> Sequence[str]:
        """Return the data sets and the definitions; nothing before there are means."""
        if all(row.mean.reason for row in self.table.rows):
            return ()
        data_sets = "; ".join(
            f"{part.data_set.name} (question '{part.labels.title}', revision {part.snapshot.revision},"
            f" {noun(part.snapshot.n_ratings, 'rating,ratings')})"
            for part in self.parts_shown
        )
        evaluators = [f"- {row.evaluator.label}: {row.evaluator.signature}" for row in self.table.rows]
        return [
            f"Data sets: {data_sets}.",
            "\n".join(self.definitions),
            MISSING,
            "\n".join(["Evaluators, recognised by their fingerprints:", *evaluators]),
        ]


def waiting_keys(chosen: Sequence[ChosenProject], choices: AcrossChoices) -> list[Key]:
    """Return the keys of the background results that the page shows."""
    parts = parts_of(chosen, choices.by, choices.labels)
    return [figures_key(part, choices.method()) for part in parts]


def page_now(
    reader: Person, chosen: Sequence[ChosenProject], choices: AcrossChoices, wait_s: float | None = SOON
) -> AcrossPage:
    """Return the page with the data sets that are ready after `wait_s` seconds; None waits for all."""
    method, project = choices.method(), chosen[0].project
    parts = parts_of(chosen, choices.by, choices.labels)
    until = None if wait_s is None else monotonic() + wait_s
    found = [figures_of(part, method, until and max(0.0, until - monotonic())) for part in parts]
    table = across_table(dimension_of(parts), [part.data_set for part in parts], found, method)
    drawn = next((row for row in table.rows if row.evaluator.identity == choices.evaluator), None)
    drawn = drawn or max(table.rows, key=lambda row: row.mean.data_sets, default=None)
    offered = others_for(reader, project)
    asked = {each.question for each in chosen}
    return AcrossPage(
        snapshot=chosen[0].snapshot,
        choices=choices,
        controls=[
            level_control(choices.level),
            coefficient_control(choices.coefficient),
            labels_control(choices.labels),
            constant_control(choices.constant),
            Control("by", "Columns", list(BY.items()), choices.by),
        ],
        picks=[
            Picks(
                "other",
                "Projects",
                "None picked: this project alone.",
                [(each.slug, each.name, each.slug in choices.other) for each in offered],
                fewest=1,
            )
        ],
        definitions=each_once(
            [
                *(
                    figure.estimate.definition
                    for row in table.rows
                    for figure in row.figures
                    if figure is not None
                ),
                *(part.labels.definition for part in parts),
                *table.definitions,
                GUARD,
            ]
        ),
        chosen=chosen,
        question_title=title_of(chosen),
        common=[
            (title, choices.address(question=(key,)), asked == {key})
            for key, title in asked_keys(chosen).items()
        ],
        parts_shown=parts,
        table=table,
        lines=[
            _line(row, parts, [figures is None for figures in found], choices, drawn) for row in table.rows
        ],
        drawn=drawn,
        waits_for=sum(figures is None for figures in found),
    )


def _line(
    row: AcrossRow,
    parts: Sequence[ChosenDataSet],
    is_pending: Sequence[bool],
    choices: AcrossChoices,
    drawn: AcrossRow | None,
) -> Line:
    mean, chance = row.mean, _chance(choices.coefficient)
    return Line(
        row,
        [
            (_cell(figure, part, choices, is_pending=pending), part)
            for figure, part, pending in zip(row.figures, parts, is_pending, strict=True)
        ],
        HeatCell(
            id=f"mean-{row.evaluator.identity[:12]}",
            value=mean.value,
            below=mean.reason or noun(mean.data_sets, "data set,data sets"),
            heat=heat(mean.value, none=chance),
            address=choices.address(evaluator=row.evaluator.identity),
            is_chosen=row is drawn,
            interval=short_range(mean.interval) if mean.interval else "",
            cluster=row.cluster,
        ),
    )


def _cell(
    figure: DataSetFigure | None, part: ChosenDataSet, choices: AcrossChoices, *, is_pending: bool
) -> Cell:
    if figure is None:
        return Cell(None, is_pending, None, "", "", "")
    estimate = figure.estimate
    shown = {
        "evaluator": figure.key,
        "question": part.data_set.question,
        "level": choices.level,
        "coefficient": choices.coefficient,
        "labels": choices.labels,
        "constant": choices.constant,
        "dataset": part.dataset,
    }
    return Cell(
        figure,
        is_pending=False,
        heat=heat(estimate.value, none=_chance(choices.coefficient)),
        below=estimate.reason or sample_size(choices.level, estimate),
        interval="" if estimate.reason or estimate.interval is None else short_range(estimate.interval),
        address=urlencode({name: value for name, value in shown.items() if value != ALL}),
    )


def _chance(coefficient: str) -> float:
    return 0.5 if coefficient == "roc_auc" else 0.0


def _forest(table: AcrossTable, row: AcrossRow) -> Chart:
    """Return the chart of one evaluator's values, their mean, and what is predicted for one more data set."""
    mean, method = row.mean, table.method
    shown = [
        Measured.of(data_set.name, figure.estimate)
        for data_set, figure in zip(table.data_sets, row.figures, strict=True)
        if figure
    ]
    if mean.interval:
        shown.append(Measured("Mean", mean.value, mean.interval.low, mean.interval.high))
    if mean.predicted and not mean.predicted.reason:
        shown.append(Measured("One more data set", mean.value, mean.predicted.low, mean.predicted.high))
    coefficient = COEFFICIENTS[method.coefficient].label
    chance = _chance(method.coefficient)
    return Chart(
        "data-sets",
        (row.evaluator.label, method.level, method.coefficient),
        lambda: interval_dots(
            shown,
            title=f"{row.evaluator.label} in each data set, {table.dimension}",
            value_title=f"{coefficient}, {LEVELS[method.level].label}",
            zero=chance,
            zero_title="chance" if chance else "no agreement",
            left_out=GUARD,
        ),
        lambda: [
            {
                "name": each.label,
                "value": or_none(each.value),
                "low": or_none(each.low),
                "high": or_none(each.high),
            }
            for each in shown
        ],
        f"{row.evaluator.label}. Lines: 95% intervals; the last is the prediction interval."
        if mean.predicted and not mean.predicted.reason
        else f"{row.evaluator.label}. Lines: 95% intervals.",
    )
