"""The planning page: how many more ratings an interval or a comparison needs, and its files."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from django.http import HttpResponse

from annotation.models import Project
from annotation.web.request_types import HtmxRequest
from metaeval.comparison.comparison import ComparisonTable
from metaeval.comparison.report import comparison_table
from metaeval.live.background import LONG, SOON, Key, queue_of
from metaeval.live.choices import ComparisonChoices, Control
from metaeval.live.controls import controls, picks
from metaeval.live.news import answer, results_view, table_file
from metaeval.live.results_page import ComparedPage
from metaeval.planning.report import PlanFigure, plan_figures
from metaeval.snapshot.arrays import SetupScores
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats.check_choice import check_choice
from metaeval.stats.method import BY_LEVEL, ONE_LOOK
from metaeval.stats.result import each_once
from metaeval.stats.uncertainty.intervals import ALWAYS_VALID

TARGETS = ("0.1", "0.05", "0.03", "0.02", "0.01")


@dataclass(frozen=True)
class PlanningChoices(ComparisonChoices):
    """The choices of the comparison page; `evaluator` is the one to plan for."""

    against: str = ""
    """Key of the evaluator to compare with."""
    target: str = "0.05"
    """Half the width of the interval, in the coefficient's unit."""


@dataclass(frozen=True)
class Plans:
    """Plans for the interval of one evaluator, and for the difference from another."""

    widths: Sequence[PlanFigure]
    differences: Sequence[PlanFigure]

    @property
    def figures(self) -> Sequence[PlanFigure]:
        return (*self.widths, *self.differences)

    def rows(self) -> list[dict[str, object]]:
        return [each.as_json() for each in self.figures]

    def cells(self) -> list[dict[str, object]]:
        return [cell for each in self.figures for cell in each.cells()]


@dataclass(frozen=True, kw_only=True)
class PlanningPage(ComparedPage):
    evaluator: SetupScores | None
    """The chosen evaluator; None if no evaluator has scores."""
    against: SetupScores | None
    """The evaluator it is compared with; None if there is only one."""
    plans: Plans | None
    """The computed plans; None during the computation."""
    n_labelled: int

    @property
    def looks(self) -> str:
        return "every" if self.method.interval == ALWAYS_VALID else "one"

    @property
    def test(self) -> str:
        """Always empty: plans have no letters."""
        return ""

    @property
    def waits(self) -> int:
        return self.plans is None


def planning_page(project: Project, choices: PlanningChoices, wait_s: float | None = SOON) -> PlanningPage:
    """Return the page, without plans if these take longer than `wait_s` seconds (None: no limit).

    Without a choice, the first evaluator is planned for and compared with the next one. Raises DomainError
    for a choice that does not exist.
    """
    snapshot = snapshot_of(project)
    check_choice("target", choices.target, TARGETS)
    method = choices.method(is_live=snapshot.is_live)
    at_every_look = method.interval == ALWAYS_VALID
    table = comparison_table(snapshot, choices, method)
    evaluator, against = _pair(table, choices)
    key = Key.of(project, snapshot.revision, choices)
    plans = queue_of(key, LONG).result(
        key,
        lambda: _plans(snapshot, table, choices, evaluator, against, at_every_look=at_every_look),
        wait_s,
    )
    figures = plans.figures if plans else ()
    compared = [(each.key, each.label) for each in table.comparison.evaluators]
    return PlanningPage(
        snapshot=snapshot,
        choices=choices,
        controls=[
            Control("evaluator", "Evaluator", compared, evaluator.key if evaluator else ""),
            Control("against", "Compare with", compared, against.key if against else ""),
            Control("target", "Target interval", [(each, f"± {each}") for each in TARGETS], choices.target),
            *([_looks_control(at_every_look=at_every_look)] if snapshot.is_live else []),
            *controls(snapshot, choices),
        ],
        picks=picks(snapshot, choices),
        evaluator=evaluator,
        against=against,
        plans=plans,
        definitions=each_once(sentence for each in figures for sentence in each.definitions),
        seen=table.comparison.why_seen([each for each in (evaluator, against) if each]),
        n_labelled=max((int((~np.isnan(column.rows.labels)).sum()) for column in table.columns), default=0),
    )


def _looks_control(*, at_every_look: bool) -> Control:
    kinds = [(BY_LEVEL, "that hold at every look"), (ONE_LOOK, "for a single look")]
    return Control("interval", "Intervals", kinds, BY_LEVEL if at_every_look else ONE_LOOK)


def _pair(table: ComparisonTable, choices: PlanningChoices) -> tuple[SetupScores | None, SetupScores | None]:
    compared = table.comparison.evaluators
    keys = tuple(each.key for each in compared)
    for name, key in (("evaluator", choices.evaluator), ("against", choices.against)):
        check_choice(name, key, ("", *keys))
    evaluator = next((each for each in compared if each.key == choices.evaluator), None)
    evaluator = evaluator or next((each for each in compared if each.key != choices.against), None)
    others = [each for each in compared if each is not evaluator]
    against = next((each for each in others if each.key == choices.against), None)
    return evaluator, against or next(iter(others), None)


def _plans(
    snapshot: Snapshot,
    table: ComparisonTable,
    choices: PlanningChoices,
    evaluator: SetupScores | None,
    against: SetupScores | None,
    *,
    at_every_look: bool,
) -> Plans:
    if evaluator is None:
        return Plans((), ())
    plans = partial(
        plan_figures,
        table.comparison,
        snapshot.human,
        [column.labels for column in table.columns],
        evaluator,
        level=choices.level,
        coefficient=choices.coefficient,
        constant=choices.constant,
        group=choices.group,
        at_every_look=at_every_look,
    )
    return Plans(plans(target=float(choices.target)), plans(against) if against else ())


@results_view(PlanningChoices)
def planning(request: HtmxRequest, project: Project, choices: PlanningChoices) -> HttpResponse:
    waits_for = [Key.of(project, project.revision, choices)]
    page = partial(planning_page, project, choices)
    return answer(request, project, "metaeval/planning/planning.html", page, waits_for)


@results_view(PlanningChoices)
def planning_table(
    _request: HtmxRequest, project: Project, choices: PlanningChoices, kind: str
) -> HttpResponse:
    """Download both tables as CSV, LaTeX or Markdown."""
    page = planning_page(project, choices, wait_s=None)
    questions = (each.question for each in page.snapshot.human.questions)
    return table_file(
        page.plans.rows() if page.plans else [],
        f"{project.slug}-planning",
        kind,
        by="table",
        down="dimension",
        across=("what",),
        n="summaries",
        titles={question.dimension: question.title for question in questions},
        cells=page.plans.cells() if page.plans else [],
    )
