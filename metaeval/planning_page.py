"""The planning page: how many more ratings it takes for one evaluator, and against another one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Project
from metaeval.background import Key, Pending, ready_or_start
from metaeval.choices import Control, MetaevalChoices
from metaeval.comparison import MetaevalTable
from metaeval.judgements import Evaluator
from metaeval.metaeval_controls import Picks, controls, picks
from metaeval.metaeval_report import metaeval_table
from metaeval.planning_report import PlanFigure, difference_plans, width_plans
from metaeval.refuse_unknown import refuse_unknown
from metaeval.snapshot import Snapshot, snapshot_of
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS

WISHES = ("0.1", "0.05", "0.03", "0.02", "0.01")
SOON = 0.3


@dataclass(frozen=True)
class PlanningChoices(MetaevalChoices):
    """Those of the meta-evaluation page, whose `evaluator` is the one that is planned for."""

    against: str = ""
    """The key of the evaluator that it is to be told apart from."""
    wished: str = "0.05"
    """Half the width of the interval, in the coefficient's unit."""


@dataclass(frozen=True)
class Plans:
    """What was computed."""

    widths: Sequence[PlanFigure]
    differences: Sequence[PlanFigure]

    def rows(self) -> list[dict[str, object]]:
        return [each.as_json() for each in (*self.widths, *self.differences)]


@dataclass(frozen=True)
class PlanningPage:
    snapshot: Snapshot
    choices: PlanningChoices
    controls: Sequence[Control]
    picks: Sequence[Picks]
    evaluator: Evaluator | None
    """None where nobody has scored anything."""
    against: Evaluator | None
    """None where there is only one."""
    plans: Plans | None
    """None while they are being computed."""
    seen: dict[str, int]
    n_labelled: int

    @property
    def level(self) -> str:
        return LEVELS[self.choices.level].label

    @property
    def coefficient(self) -> str:
        return COEFFICIENTS[self.choices.coefficient].label

    @property
    def definitions(self) -> list[str]:
        figures = (*self.plans.widths, *self.plans.differences) if self.plans else ()
        return list(dict.fromkeys(sentence for each in figures for sentence in each.definitions))


def planning_page(project: Project, choices: PlanningChoices, wait_s: float | None = SOON) -> PlanningPage:
    """The page, without plans if these take longer than `wait_s` (None: however long they take).

    Planned for is the chosen evaluator, else the first; it is told apart from the one chosen for that, if
    that is another one, else from the first other one. Raises DomainError for a choice that does not exist.
    """
    snapshot = snapshot_of(project)
    refuse_unknown("wished", choices.wished, WISHES)
    table = metaeval_table(snapshot, choices, choices.method)
    evaluator, against = _pair(table, choices)
    plans = ready_or_start(
        planning_key(project, snapshot.revision, choices),
        lambda: _plans(snapshot, table, choices, evaluator, against),
        wait_s,
    )
    if isinstance(plans, Pending) and wait_s is None:  # given up for a newer revision
        plans = _plans(snapshot, table, choices, evaluator, against)
    compared = [(each.key, each.label) for each in table.comparison.evaluators]
    return PlanningPage(
        snapshot=snapshot,
        choices=choices,
        controls=[
            Control("evaluator", "Evaluator", compared, evaluator.key if evaluator else ""),
            Control("against", "To be told apart from", compared, against.key if against else ""),
            Control("wished", "Wished interval", [(each, f"± {each}") for each in WISHES], choices.wished),
            *controls(snapshot, choices),
        ],
        picks=picks(snapshot, choices),
        evaluator=evaluator,
        against=against,
        plans=None if isinstance(plans, Pending) else plans,
        seen=table.comparison.seen,
        n_labelled=max((int((~np.isnan(column.human)).sum()) for column in table.columns), default=0),
    )


def planning_key(project: Project, revision: int, choices: PlanningChoices) -> Key:
    """What the plans are kept under in the background. What is published tells less, so these are others."""
    return Key(project.pk, revision, (choices, project.only_published))


def _pair(table: MetaevalTable, choices: PlanningChoices) -> tuple[Evaluator | None, Evaluator | None]:
    compared = table.comparison.evaluators
    keys = tuple(each.key for each in compared)
    for name, key in (("evaluator", choices.evaluator), ("against", choices.against)):
        refuse_unknown(name, key, ("", *keys))
    evaluator = next((each for each in compared if each.key == choices.evaluator), None)
    evaluator = evaluator or next((each for each in compared if each.key != choices.against), None)
    others = [each for each in compared if each is not evaluator]
    against = next((each for each in others if each.key == choices.against), None)
    return evaluator, against or next(iter(others), None)


def _plans(
    snapshot: Snapshot,
    table: MetaevalTable,
    choices: PlanningChoices,
    evaluator: Evaluator | None,
    against: Evaluator | None,
) -> Plans:
    if evaluator is None:
        return Plans((), ())
    labels = [column.labels for column in table.columns]
    widths = width_plans(
        table.comparison,
        snapshot.human,
        labels,
        evaluator,
        level=choices.level,
        coefficient=choices.coefficient,
        wished=float(choices.wished),
        group=choices.group,
    )
    if against is None:
        return Plans(widths, ())
    differences = difference_plans(
        table.comparison,
        snapshot.human,
        labels,
        evaluator,
        against,
        level=choices.level,
        coefficient=choices.coefficient,
        group=choices.group,
    )
    return Plans(widths, differences)
