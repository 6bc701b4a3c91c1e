"""The comparison page."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from annotation.models import Project
from annotation.templatetags.figures import noun
from metaeval.charts.heat_table import HeatCell, HeatRow, heat, undefined_reasons
from metaeval.comparison import pending
from metaeval.comparison.charts import evaluators_chart
from metaeval.comparison.chosen_cell import TITLES, CellDetails, CoefficientRow, chosen_cell, every_level
from metaeval.comparison.comparison import ComparisonFigure, ComparisonTable, units_of
from metaeval.comparison.human_ceiling import ONE_RATING_EACH
from metaeval.comparison.pending import AsOf
from metaeval.comparison.report import Points, point_values_of
from metaeval.comparison.significance_table import SignificanceTable, significance_table
from metaeval.comparison.uncertainty import Uncertainty
from metaeval.export.chart import Chart
from metaeval.live.background import ComputationProgress, progress_of
from metaeval.live.choices import ComparisonChoices, Control
from metaeval.live.controls import controls, method_controls, picks
from metaeval.live.results_page import ComparedPage, side_by_side
from metaeval.snapshot.arrays import Labels, SetupScores
from metaeval.snapshot.rater_groups import groups_apart
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.result import Estimate, each_once
from metaeval.templatetags.results import short_range

SHORT_LEVELS = {"pooled": "pooled", "article": "articles", "system": "systems", "within_system": "within"}
INTERVAL_TO_COME = "…"
EARLIER = " †"
"""Marks intervals and letters of an earlier revision."""


@dataclass(frozen=True, kw_only=True)
class ComparisonPage(ComparedPage):
    method_controls: Sequence[Control]
    columns: Sequence[str]
    rows: Sequence[HeatRow]
    ceilings: HeatRow | None
    """One rater's agreement with the others; None if no summary has two ratings."""
    is_computed: bool
    """True if there are intervals and tests, of this revision or an earlier one."""
    intervals_of: str
    """The earlier revision that intervals and tests belong to, in words; empty for this one."""
    progress: ComputationProgress
    """The number of dimensions with intervals and tests of this revision, while they are being computed."""
    significance: SignificanceTable | None
    drawn: CellDetails | None
    levels: Sequence[CoefficientRow]
    """The chosen cell by every coefficient at every level; empty while being computed."""
    levels_of: str
    """The earlier revision that they belong to."""
    evaluators_chart: Chart | None
    """All evaluators on the chosen dimension."""
    points: Points
    few_units: Sequence[str]
    """Warnings about figures on much fewer units than others on their dimension."""
    unequal: Sequence[str]
    """The dimensions on which evaluators do not have equal units."""
    shared: tuple[int, int] | None
    """The articles that all evaluators share, and all labelled ones, where they share the least; None if they
    share all."""
    no_interval: Sequence[str]
    """The reasons why values have no interval."""
    has_letters: bool
    why_no_letters: Sequence[str]
    """The reason why the test gives no letters, by dimension unless for all."""

    @property
    def charts(self) -> Sequence[Chart]:
        return [
            *(self.drawn.charts if self.drawn else ()),
            *([self.evaluators_chart] if self.evaluators_chart else ()),
        ]

    @property
    def undefined_reasons(self) -> list[str]:
        return undefined_reasons(self.rows)

    @property
    def is_pending(self) -> bool:
        """Return whether intervals and tests of this revision are still being computed."""
        return not self.is_computed or bool(self.intervals_of)

    @property
    def waits(self) -> int:
        of_levels = self.drawn is not None and (not self.levels or bool(self.levels_of))
        return (self.progress.left if self.is_pending else 0) + of_levels

    @property
    def undefined_levels(self) -> list[str]:
        """Return why some of `levels` are undefined."""
        return each_once(figure.estimate.reason for row in self.levels for figure in row.figures)

    @property
    def paragraphs(self) -> Sequence[str]:
        return self.paragraphs_on(self.points.compared)

    @property
    def caption(self) -> str:
        """The caption of the table."""
        labels = f"labels of {self.group}" if self.group in self.snapshot.human.groups else "human labels"
        return f"{self.coefficient}, {self.level}, of each evaluator with the {labels} on each dimension"

    @property
    def compared_query(self) -> str:
        """The query that selects the compared evaluators on another page."""
        return urlencode([("only", each.key) for each in self.points.compared])

    @property
    def coefficients(self) -> list[str]:
        """The titles of the rows of `levels`."""
        return list(TITLES.values())

    @property
    def level_names(self) -> list[tuple[str, str]]:
        """The short and the full name of each level."""
        return [(SHORT_LEVELS[name], level.label) for name, level in LEVELS.items()]


def page_now(project: Project, choices: ComparisonChoices) -> ComparisonPage:
    """Return the page at once, with the intervals and tests that are ready, perhaps of an earlier revision.

    Where groups of raters differ beyond chance and none is chosen, each has a table, and there are no
    details: a mixture would be nobody's answers. Raises DomainError for a choice that does not exist.
    """
    snapshot = snapshot_of(project)
    if groups := groups_apart(snapshot.summaries, snapshot.human, choices.group):
        return _page_apart(project, snapshot, choices, groups)
    points = point_values_of(snapshot, choices)
    pair = chosen_pair(points.table, choices)
    levels = None
    if pair:
        levels = pending.levels(project, snapshot, points.table.comparison, *pair, choices)
    wait_s = pending.wait_for(snapshot)
    found = pending.uncertainties(project, snapshot, points.table, choices, wait_s)
    progress = progress_of(pending.uncertainties_key(project, snapshot.revision, choices))
    return comparison_page(snapshot, points, choices, found, levels, progress=progress)


def _page_apart(
    project: Project, snapshot: Snapshot, choices: ComparisonChoices, groups: Sequence[str]
) -> ComparisonPage:
    of_group = {group: replace(choices, group=group) for group in groups}
    points = {group: point_values_of(snapshot, own) for group, own in of_group.items()}
    tables = {group: each.table for group, each in points.items()}
    found = pending.uncertainties_apart(project, snapshot, tables, choices)
    uncertain = (
        [AsOf(found.revision, found.n_ratings, found.scope, each) for each in found.result]
        if found
        else [None] * len(groups)
    )
    progress = progress_of(pending.apart_key(project, snapshot.revision, choices))
    apart = [
        comparison_page(snapshot, points[group], own, each, None, progress=progress, is_part=True)
        for (group, own), each in zip(of_group.items(), uncertain, strict=True)
    ]
    shared = [each.shared for each in apart if each.shared]
    return side_by_side(
        apart,
        choices,
        shared=min(shared, key=lambda pair: pair[0] / pair[1], default=None),
        has_letters=any(each.has_letters for each in apart),
    )


def whole_page(project: Project, choices: ComparisonChoices) -> ComparisonPage:
    """Return the page with intervals and tests, without the chosen cell's levels, for its files.

    Without a chosen group of raters, all are mixed. Raises as `page_now`.
    """
    snapshot = snapshot_of(project)
    points = point_values_of(snapshot, choices)
    found = pending.uncertainties(project, snapshot, points.table, choices, wait_s=None)
    return comparison_page(snapshot, points, choices, found, None)


def figure_rows(project: Project, choices: ComparisonChoices) -> list[dict[str, object]]:
    """Return all figures with intervals and tests, as rows. Raises as `page_now`."""
    snapshot = snapshot_of(project)
    table = point_values_of(snapshot, choices).table
    found = pending.uncertainties(project, snapshot, table, choices, wait_s=None)
    return [figure.as_json() for figure in table.figures(found.result if found else None)]


def level_rows(project: Project, choices: ComparisonChoices) -> list[dict[str, object]]:
    """Return the chosen cell by every coefficient at every level, as rows. Raises as `page_now`."""
    table = point_values_of(snapshot_of(project), choices).table
    pair = chosen_pair(table, choices)
    rows = every_level(table.comparison, *pair, choices.constant) if pair else []
    return [figure.as_json() for row in rows for figure in row.figures]


def system_rows(project: Project, choices: ComparisonChoices) -> list[dict[str, object]]:
    """Return the means of systems for the chosen cell, as rows. Raises as `page_now`."""
    snapshot = snapshot_of(project)
    drawn = comparison_page(snapshot, point_values_of(snapshot, choices), choices, None, None).drawn
    return drawn.system_rows() if drawn else []


def comparison_page(
    snapshot: Snapshot,
    points: Points,
    choices: ComparisonChoices,
    found: AsOf[Sequence[Uncertainty]] | None,
    levels: AsOf[Sequence[CoefficientRow]] | None,
    *,
    progress: ComputationProgress | None = None,
    is_part: bool = False,
) -> ComparisonPage:
    """Return the page for `points`, which were computed for these choices.

    `found` has the intervals and tests of each column, `levels` those of the chosen cell; None while they are
    being computed, of which `progress` is known. As a part of another page it has no chosen cell.
    """
    table = points.table
    uncertain = found.result if found else None
    intervals_of = found.earlier_than(snapshot) if found else ""
    figures = {(figure.evaluator.key, figure.labels.key): figure for figure in table.figures(uncertain)}
    pair = None if is_part else chosen_pair(table, choices)
    chosen = figures[pair[0].key, pair[1].key] if pair else None
    labels = [column.labels for column in table.columns]
    ceilings = _ceilings(points, choices)
    certain = table.figures(None if intervals_of else uncertain)
    definitions = [sentence for figure in certain for sentence in figure.definitions]
    definitions += [ceilings.note] if ceilings else []
    return ComparisonPage(
        snapshot=snapshot,
        choices=choices,
        controls=controls(snapshot, choices),
        method_controls=method_controls(choices),
        picks=picks(snapshot, choices),
        columns=[each.title for each in labels],
        rows=[
            HeatRow(
                evaluator.label,
                "",
                [
                    _cell(
                        figures.get((evaluator.key, each.key)),
                        chosen,
                        choices,
                        interval=INTERVAL_TO_COME if uncertain is None else "",
                        mark=EARLIER if intervals_of else "",
                        of_group=f"-{choices.group}" if is_part else "",
                    )
                    for each in labels
                ],
                hint=evaluator.signature,
            )
            for evaluator in table.comparison.evaluators
        ],
        ceilings=ceilings,
        is_computed=uncertain is not None,
        intervals_of=intervals_of,
        progress=progress or ComputationProgress(0, 1),
        significance=significance_table(table, uncertain, chosen.labels.key)
        if chosen and uncertain
        else None,
        seen=table.comparison.seen,
        drawn=None if chosen is None else chosen_cell(snapshot, table.comparison, chosen, choices),
        levels=levels.result if levels else (),
        levels_of=levels.earlier_than(snapshot) if levels else "",
        evaluators_chart=None
        if chosen is None
        else evaluators_chart(
            [figure for figure in figures.values() if figure.labels is chosen.labels],
            _ceiling_of(ceilings, chosen.labels),
            intervals_of,
        ),
        definitions=each_once(definitions),
        points=points,
        few_units=[
            f"{figure.evaluator.label} on {figure.labels.title}: {figure.few_units}"
            for figure in figures.values()
            if figure.few_units
        ],
        unequal=[column.labels.title for column in table.columns_of_unequal_units],
        shared=_shared(table),
        no_interval=each_once(
            figure.estimate.interval.reason
            for figure in figures.values()
            if figure.estimate.interval and not figure.estimate.reason
        ),
        has_letters=any(each.clusters for each in uncertain or ()),
        why_no_letters=_why_no_letters(labels, uncertain or ()),
    )


def chosen_pair(table: ComparisonTable, choices: ComparisonChoices) -> tuple[SetupScores, Labels] | None:
    """Return the evaluator and labels of the chosen cell; None if there are no figures.

    If the choice does not exist any more, a cell with the same question or evaluator takes its place.
    """
    pairs = [
        (evaluator, column.labels)
        for evaluator in table.comparison.evaluators
        for column in table.columns
        if evaluator in column.evaluators
    ]
    return max(
        pairs,
        key=lambda pair: (pair[1].key == choices.question, pair[0].key == choices.evaluator),
        default=None,
    )


def _cell(
    figure: ComparisonFigure | None,
    chosen: ComparisonFigure | None,
    choices: ComparisonChoices,
    *,
    interval: str,
    mark: str,
    of_group: str,
) -> HeatCell | None:
    """Return a cell. `interval` is shown if the figure has none; `mark` follows interval and letters.

    `of_group` ends its id.
    """
    if figure is None:
        return None
    estimate = figure.estimate
    chance = 0.5 if figure.coefficient == "roc_auc" else 0.0
    shown = short_range(estimate.interval) + mark if estimate.interval else interval
    return HeatCell(
        id=f"figure-{figure.evaluator.key}-{figure.labels.key}{of_group}",
        value=estimate.value,
        below=estimate.reason or sample_size(figure.level, estimate),
        heat=heat(estimate.value, none=chance),
        address=choices.address(evaluator=figure.evaluator.key, question=figure.labels.key),
        is_chosen=figure is chosen,
        interval="" if estimate.reason else shown,
        cluster=figure.cluster + mark if figure.cluster else "",
        is_best=figure.is_best,
        few_units=figure.few_units,
    )


def sample_size(level: str, estimate: Estimate) -> str:
    """Return the number of summaries, articles or systems behind a figure of this level, as text."""
    units, number = LEVELS[level].units, units_of(level, estimate)
    return f"n {number:,}" if units == "summaries" else noun(number, f"{units[:-1]},{units}")


def _shared(table: ComparisonTable) -> tuple[int, int] | None:
    each = [
        (column.shared_articles, column.labelled_articles)
        for column in table.columns
        if len(column.evaluators) > 1
    ]
    fewer = [(shared, labelled) for shared, labelled in each if shared < labelled]
    return min(fewer, key=lambda pair: pair[0] / pair[1], default=None)


def _why_no_letters(labels: Sequence[Labels], uncertain: Sequence[Uncertainty]) -> list[str]:
    concerned: dict[str, list[str]] = {}
    for each, found in zip(labels, uncertain, strict=False):
        if found.why_no_letters:
            concerned.setdefault(found.why_no_letters, []).append(each.title)
    return [
        reason if len(titles) == len(labels) else f"{', '.join(titles)}: {reason}"
        for reason, titles in concerned.items()
    ]


def _ceilings(points: Points, choices: ComparisonChoices) -> HeatRow | None:
    if all(each.reason == ONE_RATING_EACH for each in points.ceilings):
        return None
    return HeatRow(
        "One rater",
        points.ceilings[0].definition,
        [
            HeatCell(
                id=f"ceiling-{column.labels.key}",
                value=each.value,
                below=each.reason or sample_size(choices.level, each),
                heat=None,
                address="",
                is_chosen=False,
            )
            for column, each in zip(points.table.columns, points.ceilings, strict=True)
        ],
    )


def _ceiling_of(ceilings: HeatRow | None, labels: Labels) -> float:
    cells = ceilings.cells if ceilings else ()
    return next((cell.value for cell in cells if cell and cell.id == f"ceiling-{labels.key}"), math.nan)
