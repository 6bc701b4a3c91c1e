"""The pages of rechecks: the list of setups, one setup, and the form that starts a recheck."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.errors import NotFound
from annotation.lookups import read_number
from annotation.models import Project
from annotation.permissions import Permission
from annotation.templatetags.figures import noun
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.rechecks.report import (
    Consistency,
    ConsistencyReport,
    DriftReport,
    consistency_of,
    consistency_report,
    drift_report,
)
from metaeval.rechecks.results import DriftNotice, notice_of, notices_of, replies_of_each
from metaeval.rechecks.starting import (
    MOST_DAYS,
    REPEATS,
    RecheckPlan,
    asking_setup,
    asking_setups,
    plan_recheck,
    set_schedule,
    start_recheck,
)
from scoring.errors import InvalidRun, RunBusy
from scoring.models import RecheckSchedule, Run, Setup
from scoring.runs.budget_form import BudgetField
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


class RecheckForm(forms.Form):
    """The budget of a recheck. `name` makes the ids of its fields unique on the page."""

    budget = BudgetField(required=False, label="Budget, $")

    def __init__(self, name: str, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", auto_id=f"{name}-%s", **options)

    @property
    def problem(self) -> str:
        """The error message; empty if the form is valid."""
        return f"budget: {' '.join(map(str, self.errors['budget']))}" if self.errors else ""


@require_safe
def rechecks(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    return render(request, "metaeval/rechecks/rechecks.html", {"rows": recheck_rows(project)})


@require_safe
def rechecks_of_setup(request: SignedInRequest, slug: str, setup_id: int) -> HttpResponse:
    """Show the rechecks of a setup; for htmx only the part that changes."""
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    page = recheck_page(asking_setup(project, setup_id))
    kept = {"budget": page.schedule.budget if page.schedule else None}
    context = {
        "page": page,
        "may_start": Permission.MANAGE_RUNS in project.reader_may,
        "most_days": MOST_DAYS,
        "recheck_forms": [RecheckForm(each.kind) for each in page.rechecks],
        "schedule_form": RecheckForm("schedule", initial=kept),
    }
    template = "metaeval/rechecks/of_setup.html"
    return render(request, f"{template}#found" if request.htmx else template, context)


@require_POST
def recheck_start(request: SignedInRequest, slug: str, setup_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    kind = request.POST.get("kind", "")
    if kind not in Run.RECHECKS:
        raise NotFound(f"kind: found {kind[:40]!r}, expected one of {', '.join(Run.RECHECKS)}")
    setup = asking_setup(project, setup_id)
    try:
        start_recheck(setup, kind, request.user, _budget(request))
    except (InvalidRun, RunBusy) as error:
        messages.warning(request, str(error))
    return redirect("rechecks_of_setup", slug, setup_id)


@require_POST
def recheck_schedule(request: SignedInRequest, slug: str, setup_id: int) -> HttpResponse:
    """Schedule a drift recheck every so many days, or none without a number."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    setup = asking_setup(project, setup_id)
    try:
        days = _days(request)
        set_schedule(setup, days, request.user, _budget(request))
    except InvalidRun as error:
        messages.warning(request, str(error))
    else:
        every = f"Drift recheck scheduled every {noun(days, 'day,days')}." if days else "Schedule deleted."
        messages.success(request, every)
    return redirect("rechecks_of_setup", slug, setup_id)


def _days(request: SignedInRequest) -> int | None:
    """Return the number of days; None if empty. Raises InvalidRun for anything else."""
    given = request.POST.get("days", "").strip()
    if not given:
        return None
    days = read_number(given)
    if days is None:
        raise InvalidRun(f"days: found {given[:20]!r}, expected a whole number from 1 to {MOST_DAYS}")
    return days


def _budget(request: SignedInRequest) -> Decimal | None:
    """Return the budget; None if empty. Raises InvalidRun for anything else."""
    form = RecheckForm("sent", request.POST)
    if not form.is_valid():
        raise InvalidRun(form.problem)
    budget: Decimal | None = form.cleaned_data["budget"]
    return budget
