"""Pages on how steady judges are: all of them, one, and what is started there."""

from decimal import Decimal

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.context import open_project
from annotation.errors import NotFound
from annotation.permissions import Permission, permissions_of
from annotation.signed_in import SignedInRequest
from annotation.templatetags.figures import noun
from metaeval.forms.steadiness import SpendingForm
from metaeval.steadiness.page import steadiness_page, steadiness_rows
from scoring.errors import InvalidRun, RunBusy
from scoring.models import Reasking
from scoring.steadiness.starting import MOST_DAYS, asking_setup, set_schedule, start_reasking


@never_cache
@login_required
@require_safe
def steadiness(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    return render(request, "metaeval/steadiness.html", {"rows": steadiness_rows(project)})


@never_cache
@login_required
@require_safe
def steadiness_setup(request: SignedInRequest, slug: str, setup_id: int) -> HttpResponse:
    """The page, and for its own polling all that moves."""
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    page = steadiness_page(asking_setup(project, setup_id))
    kept = {"budget": page.schedule.budget if page.schedule else None}
    context = {
        "page": page,
        "may_start": Permission.MANAGE_RUNS in permissions_of(request.user, project),
        "most_days": MOST_DAYS,
        "spending_forms": [SpendingForm(part.kind) for part in page.parts],
        "schedule_form": SpendingForm("schedule", initial=kept),
    }
    template = "metaeval/steadiness_setup.html"
    return render(request, f"{template}#found" if request.htmx else template, context)


@login_required
@require_POST
def steadiness_start(request: SignedInRequest, slug: str, setup_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    kind = request.POST.get("kind", "")
    if kind not in Reasking.Kind.values:
        raise NotFound("There is no such way of asking again.")
    setup = asking_setup(project, setup_id)
    try:
        start_reasking(setup, kind, request.user, _most_to_spend(request))
    except (InvalidRun, RunBusy) as error:
        messages.warning(request, str(error))
    return redirect("steadiness_setup", slug, setup_id)


@login_required
@require_POST
def steadiness_schedule(request: SignedInRequest, slug: str, setup_id: int) -> HttpResponse:
    """Every so many days from now on; without a number, no more."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    setup = asking_setup(project, setup_id)
    try:
        days = _days(request)
        set_schedule(setup, days, request.user, _most_to_spend(request))
    except InvalidRun as error:
        messages.warning(request, str(error))
    else:
        told = (
            f"It is asked again every {noun(days, 'day,days')}."
            if days
            else "It is not asked again by itself any more."
        )
        messages.success(request, told)
    return redirect("steadiness_setup", slug, setup_id)


def _days(request: SignedInRequest) -> int | None:
    """Raises InvalidRun for what is no number."""
    given = request.POST.get("days", "").strip()
    if not given:
        return None
    if not given.isascii() or not given.isdecimal() or len(given) > 9:
        raise InvalidRun(f"days: found {given[:20]!r}, expected a whole number from 1 to {MOST_DAYS}")
    return int(given)


def _most_to_spend(request: SignedInRequest) -> Decimal | None:
    """Raises InvalidRun for what is no amount."""
    form = SpendingForm("sent", request.POST)
    if not form.is_valid():
        raise InvalidRun(form.problem)
    budget: Decimal | None = form.cleaned_data["budget"]
    return budget
