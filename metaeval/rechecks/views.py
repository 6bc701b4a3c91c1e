"""The pages of rechecks, and the form that starts one."""

from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.errors import NotFound
from annotation.lookups import read_number
from annotation.permissions import Permission
from annotation.templatetags.figures import noun
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.rechecks.page import recheck_page, recheck_rows
from metaeval.rechecks.starting import MOST_DAYS, asking_setup, set_schedule, start_recheck
from scoring.errors import InvalidRun, RunBusy
from scoring.models import Run
from scoring.runs.budget_form import BudgetField


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
    return render(request, "metaeval/rechecks.html", {"rows": recheck_rows(project)})


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
    template = "metaeval/rechecks_of_setup.html"
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
