"""The pages of rechecks: the list of setups, and one setup."""

from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.models import Project
from metaeval.rechecks.report import (
    Consistency,
    ConsistencyReport,
    DriftReport,
    consistency_of,
    consistency_report,
    drift_report,
)
from metaeval.rechecks.results import DriftNotice, notice_of, notices_of, replies_of_each
from metaeval.rechecks.starting import REPEATS, RecheckPlan, asking_setups, plan_recheck
from scoring.errors import InvalidRun
from scoring.models import RecheckSchedule, Run, Setup
from scoring.runs.lifecycle import RESUMABLE


@dataclass(frozen=True)
class RecheckRow:
    """A setup in the list."""

    setup: Setup
    consistency: Consistency | None
    last_drift: Run | None
    notice: DriftNotice | None
    schedule: RecheckSchedule | None


@dataclass(frozen=True)
class RecheckState:
    """The state of one kind of recheck, and the plan of the next one."""

    kind: str
    repeats: int
    unfinished: Run | None
    stopped: Run | None
    """The latest recheck, if it failed, was cancelled or is paused."""
    plan: RecheckPlan | None
    problem: str
    """The reason why it cannot start; empty if it can."""


@dataclass(frozen=True)
class RecheckPage:
    setup: Setup
    consistency: ConsistencyReport | None
    drift: DriftReport | None
    notice: DriftNotice | None
    schedule: RecheckSchedule | None
    rechecks: tuple[RecheckState, RecheckState]
    """Consistency, drift."""
    history: tuple[Run, ...]

    @property
    def is_running(self) -> bool:
        return any(each.unfinished for each in self.rechecks)


def recheck_rows(project: Project) -> list[RecheckRow]:
    """Return a row for each setup that uses a language model, in a fixed number of queries."""
    setups = list(asking_setups(project).defer("provenance", "pool", "corpus"))
    latest: dict[tuple[int, str], Run] = {}
    for run in _concluded().filter(setup__in=setups):
        latest.setdefault((run.setup_id, run.kind), run)
    replies = replies_of_each([each for each in latest.values() if each.kind == Run.Kind.CONSISTENCY])
    notices = notices_of(setups)
    schedules = {each.setup_id: each for each in RecheckSchedule.objects.filter(setup__in=setups)}
    rows = []
    for setup in setups:
        consistency = latest.get((setup.pk, Run.Kind.CONSISTENCY))
        rows.append(
            RecheckRow(
                setup,
                consistency_of(consistency, replies[consistency.pk]) if consistency else None,
                latest.get((setup.pk, Run.Kind.DRIFT)),
                notices.get(setup.pk),
                schedules.get(setup.pk),
            )
        )
    return rows


def recheck_page(setup: Setup) -> RecheckPage:
    consistency = _latest(setup, Run.Kind.CONSISTENCY)
    drift = _latest(setup, Run.Kind.DRIFT)
    return RecheckPage(
        setup=setup,
        consistency=consistency_report(consistency) if consistency else None,
        drift=drift_report(drift) if drift else None,
        notice=notice_of(setup),
        schedule=RecheckSchedule.objects.filter(setup=setup).first(),
        rechecks=(_recheck_state(setup, Run.Kind.CONSISTENCY), _recheck_state(setup, Run.Kind.DRIFT)),
        history=tuple(setup.runs.rechecks().select_related("created_by")),
    )


def _concluded() -> QuerySet[Run]:
    """Return the finished rechecks, drift rechecks with a verdict, the latest first."""
    done = Run.objects.rechecks().filter(status=Run.Status.DONE)
    return done.exclude(kind=Run.Kind.DRIFT, has_changed=None)


def _latest(setup: Setup, kind: Run.Kind) -> Run | None:
    return _concluded().filter(setup=setup, kind=kind).first()


def _recheck_state(setup: Setup, kind: Run.Kind) -> RecheckState:
    latest = setup.runs.filter(kind=kind).first()
    plan, problem = None, ""
    try:
        plan = plan_recheck(setup, kind)
    except InvalidRun as error:
        problem = str(error)
    return RecheckState(
        kind=kind.value,
        repeats=REPEATS[kind],
        unfinished=latest if latest and (latest.is_unfinished or latest.awaits_verdict) else None,
        stopped=latest if latest and latest.status in RESUMABLE else None,
        plan=plan,
        problem=problem,
    )
