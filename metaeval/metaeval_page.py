"""The meta-evaluation page: which figures it shows and what it says about them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.models import Project
from annotation.templatetags.figures import noun
from metaeval import page_background
from metaeval.choices import Control, MetaevalChoices
from metaeval.comparison import MetaevalFigure, MetaevalTable
from metaeval.drawn_pair import CoefficientRow, Drawn, drawn_pair, every_level
from metaeval.evaluators_chart import evaluators_chart
from metaeval.export.chart import Chart
from metaeval.heat_table import HeatCell, HeatRow, heat, undefined_reasons
from metaeval.judgements import Evaluator, Labels
from metaeval.metaeval_controls import Picks, controls, method_controls, picks
from metaeval.page_background import AsOf
from metaeval.points import Points, points_of
from metaeval.significance_table import SignificanceTable, significance_table
from metaeval.snapshot import Snapshot, snapshot_of
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.result import Estimate, Interval
from metaeval.stats.significance.compare_pairs import TESTS
from metaeval.templatetags.results import short_figure
from metaeval.uncertainty import Uncertainty

SHORT_LEVELS = {"pooled": "pooled", "article": "articles", "system": "systems", "within_system": "within"}
INTERVAL_TO_COME = "…"
EARLIER = " †"
"""After what is of an earlier revision; the page says which."""


@dataclass(frozen=True)
class MetaevalPage:
    snapshot: Snapshot
    choices: MetaevalChoices
    controls: Sequence[Control]
    method_controls: Sequence[Control]
    picks: Sequence[Picks]
    columns: Sequence[str]
    rows: Sequence[HeatRow]
    ceilings: HeatRow | None
    """What one rater reaches against the others; None where no summary has two ratings."""
    is_computed: bool
    """Whether there are intervals and tests, of this revision or an earlier one."""
    intervals_of: str
    """The earlier revision that intervals and tests are of, in words; empty for this one."""
    significance: SignificanceTable | None
    seen: dict[str, int]
    drawn: Drawn | None
    levels: Sequence[CoefficientRow]
    """The drawn pair by every coefficient at every level; empty while they are being computed."""
    levels_of: str
    """The earlier revision that they are of."""
    beside: Chart | None
    """All evaluators on the dimension that is drawn."""
    compared: Sequence[Evaluator]
    definitions: Sequence[str]
    """Of every number in the tables, each sentence once."""
    n_labelled: int
    n_articles: int
    n_systems: int

    @property
    def charts(self) -> Sequence[Chart]:
        """Every chart of the page, which are also files."""
        return [*(self.drawn.charts if self.drawn else ()), *([self.beside] if self.beside else ())]

    @property
    def undefined_reasons(self) -> list[str]:
        return undefined_reasons(self.rows)

    @property
    def is_pending(self) -> bool:
        """Whether intervals and tests of this revision are still being computed."""
        return not self.is_computed or bool(self.intervals_of)

    @property
    def waits(self) -> int:
        """Results from the background that are still being computed."""
        return self.is_pending + (self.drawn is not None and (not self.levels or bool(self.levels_of)))

    @property
    def undefined_levels(self) -> list[str]:
        """Why some of `levels` are undefined."""
        reasons = (figure.estimate.reason for row in self.levels for figure in row.figures)
        return list(dict.fromkeys(reason for reason in reasons if reason))

    @property
    def level(self) -> str:
        return LEVELS[self.choices.level].label

    @property
    def coefficient(self) -> str:
        return COEFFICIENTS[self.choices.coefficient].label

    @property
    def test(self) -> str:
        return TESTS[self.choices.test].label

    @property
    def coefficients(self) -> list[str]:
        """All there are."""
        return [each.label for each in COEFFICIENTS.values()]

    @property
    def level_names(self) -> list[tuple[str, str]]:
        """All there are: short names for the heads of columns, and what they mean."""
        return [(SHORT_LEVELS[name], level.label) for name, level in LEVELS.items()]


def page_now(project: Project, choices: MetaevalChoices) -> MetaevalPage:
    """The page as it can be shown at once: its values first, and what else there is of this revision or,
    while that is being computed, of an earlier one.

    Raises DomainError for a choice that does not exist.
    """
    snapshot = snapshot_of(project)
    points = points_of(snapshot, choices)
    pair = chosen_pair(points.table, choices)
    levels = None
    if pair:
        levels = page_background.levels(project, snapshot, points.table.comparison, *pair, choices)
    wait_s = page_background.wait_for(snapshot)
    found = page_background.uncertainties(project, snapshot, points.table, choices, wait_s)
    return metaeval_page(snapshot, points, choices, found, levels)


def whole_page(project: Project, choices: MetaevalChoices) -> MetaevalPage:
    """The page with its intervals and tests, however long they take, but without the drawn pair's levels.
    Raises as `page_now`."""
    snapshot = snapshot_of(project)
    points = points_of(snapshot, choices)
    found = page_background.uncertainties(project, snapshot, points.table, choices, wait_s=None)
    return metaeval_page(snapshot, points, choices, found, None)


def level_rows(project: Project, choices: MetaevalChoices) -> list[dict[str, object]]:
    """The drawn pair by every coefficient at every level, as rows of a file. Raises as `page_now`."""
    table = points_of(snapshot_of(project), choices).table
    pair = chosen_pair(table, choices)
    rows = every_level(table.comparison, *pair) if pair else []
    return [figure.as_json() for row in rows for figure in row.figures]


def system_rows(project: Project, choices: MetaevalChoices) -> list[dict[str, object]]:
    """The means of systems for the drawn pair, as rows of a file. Raises as `page_now`."""
    snapshot = snapshot_of(project)
    drawn = metaeval_page(snapshot, points_of(snapshot, choices), choices, None, None).drawn
    return drawn.system_rows() if drawn else []


def metaeval_page(
    snapshot: Snapshot,
    points: Points,
    choices: MetaevalChoices,
    found: AsOf[Sequence[Uncertainty]] | None,
    levels: AsOf[Sequence[CoefficientRow]] | None,
) -> MetaevalPage:
    """The page for `points`, which were made by these choices.

    `found` has intervals and tests of each column, `levels` the drawn pair's; None while they are being
    computed. The figure that is drawn is the chosen one or, if it is no longer there, the nearest to it
    (`chosen_pair`).
    """
    table = points.table
    uncertain = found.result if found else None
    intervals_of = found.earlier_than(snapshot) if found else ""
    figures = {(figure.evaluator.key, figure.labels.key): figure for figure in table.figures(uncertain)}
    pair = chosen_pair(table, choices)
    chosen = figures[pair[0].key, pair[1].key] if pair else None
    labels = [column.labels for column in table.columns]
    ceilings = _ceilings(points, choices)
    certain = table.figures(None if intervals_of else uncertain)
    definitions = [sentence for figure in certain for sentence in figure.definitions]
    definitions += [ceilings.note] if ceilings else []
    return MetaevalPage(
        snapshot=snapshot,
        choices=choices,
        controls=controls(snapshot, choices),
        method_controls=method_controls(choices),
        picks=picks(snapshot, choices),
        columns=[each.title for each in labels],
        rows=[
            HeatRow(
                evaluator.label,
                evaluator.signature,
                [
                    _cell(
                        figures.get((evaluator.key, each.key)),
                        chosen,
                        choices,
                        interval=INTERVAL_TO_COME if uncertain is None else "",
                        mark=EARLIER if intervals_of else "",
                    )
                    for each in labels
                ],
            )
            for evaluator in table.comparison.evaluators
        ],
        ceilings=ceilings,
        is_computed=uncertain is not None,
        intervals_of=intervals_of,
        significance=significance_table(table, uncertain, chosen.labels.key)
        if chosen and uncertain
        else None,
        seen=table.comparison.seen,
        drawn=None if chosen is None else drawn_pair(snapshot, table.comparison, chosen, choices),
        levels=levels.result if levels else (),
        levels_of=levels.earlier_than(snapshot) if levels else "",
        beside=None
        if chosen is None
        else evaluators_chart(
            [figure for figure in figures.values() if figure.labels is chosen.labels],
            _ceiling_of(ceilings, chosen.labels),
            intervals_of,
        ),
        compared=table.comparison.evaluators,
        definitions=list(dict.fromkeys(definitions)),
        n_labelled=points.n_labelled,
        n_articles=points.n_articles,
        n_systems=points.n_systems,
    )


def chosen_pair(table: MetaevalTable, choices: MetaevalChoices) -> tuple[Evaluator, Labels] | None:
    """The evaluator and the labels that are drawn; None where there is no figure at all.

    Of the choices the question counts first, then the evaluator; what is left open is the first there is.
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
    figure: MetaevalFigure | None,
    chosen: MetaevalFigure | None,
    choices: MetaevalChoices,
    *,
    interval: str,
    mark: str,
) -> HeatCell | None:
    """`interval` stands where there is none; `mark` follows interval and letters."""
    if figure is None:
        return None
    estimate = figure.estimate
    chance = 0.5 if figure.coefficient == "roc_auc" else 0.0
    return HeatCell(
        id=f"figure-{figure.evaluator.key}-{figure.labels.key}",
        value=estimate.value,
        below=estimate.reason or stands_on(figure.level, estimate),
        heat=heat(estimate.value, none=chance),
        address=choices.address(evaluator=figure.evaluator.key, question=figure.labels.key),
        is_chosen=figure is chosen,
        interval="" if estimate.reason else _interval(estimate.interval, mark) or interval,
        cluster=figure.cluster + mark if figure.cluster else "",
        is_best=figure.is_best,
    )


def _interval(interval: Interval | None, mark: str) -> str:
    if interval is None:
        return ""
    if interval.reason:
        return "no interval" + mark
    return f"{short_figure(interval.low)} to {short_figure(interval.high)}{mark}"


def stands_on(level: str, estimate: Estimate) -> str:
    """On how many of what a figure at this level stands, in few words."""
    if level == "article":
        return noun(estimate.articles or 0, "article,articles")
    if level in ("system", "within_system"):
        return noun(estimate.systems or 0, "system,systems")
    return f"n {estimate.n:,}"


def _ceilings(points: Points, choices: MetaevalChoices) -> HeatRow | None:
    if all(each.reason for each in points.ceilings):
        return None
    return HeatRow(
        "One rater",
        points.ceilings[0].definition,
        [
            HeatCell(
                id=f"ceiling-{column.labels.key}",
                value=each.value,
                below=each.reason or stands_on(choices.level, each),
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
