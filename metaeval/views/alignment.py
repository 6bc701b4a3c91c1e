"""Aligning judges: the project's judges and how its labels are split, and one judge with its versions."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.context import open_project
from annotation.errors import DomainError
from annotation.models import Project
from annotation.permissions import Permission
from annotation.signed_in import SignedInRequest
from metaeval.alignment.page import judge_page
from metaeval.alignment.report import AlignmentChoices, judge_report
from metaeval.forms.alignment import SplitForm, TrialForm
from metaeval.snapshot import snapshot_of
from scoring.alignment.judges import judge_of, version_of
from scoring.alignment.parts import Part, Shares
from scoring.alignment.seal import openings_of
from scoring.alignment.split import counts_of, is_fixed, set_split, shares_of, split_of
from scoring.alignment.trials import open_sealed, plan_of, plan_to_open, try_version
from scoring.catalogue import asking_evaluators
from scoring.endpoints.estimates import estimate
from scoring.errors import InvalidRun, RunBusy
from scoring.models import Judge, JudgeVersion, Run
from scoring.planning import RunPlan
from scoring.progress import progress_of_runs

PROPOSED = Shares(seed=0, pool=0.2, tuning=0.4)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def alignment(request: SignedInRequest, slug: str) -> HttpResponse:
    """The judges, and the form of the split; a preview of its counts for htmx."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    split = split_of(project)
    shares = shares_of(split) if split else PROPOSED
    form = SplitForm(request.POST if request.method == "POST" else None, initial=_in_percent(shares))
    if form.is_valid():
        shares = form.shares
        if not request.htmx:
            try:
                set_split(project, request.user, shares)
                messages.success(request, "The labels are split.")
            except DomainError as error:
                messages.warning(request, str(error))
            return redirect("alignment", slug)
    context = {
        "split": split,
        "form": form,
        "is_fixed": is_fixed(project),
        "parts": counts_of(project, shares),
        "judges": _judges(project),
        "openings": openings_of(project),
        "evaluators": asking_evaluators(),
    }
    template = "metaeval/alignment.html#parts" if request.htmx else "metaeval/alignment.html"
    return render(request, template, context, status=422 if form.errors and not request.htmx else 200)


@never_cache
@login_required
@require_safe
def judge(request: SignedInRequest, slug: str, judge_id: int) -> HttpResponse:
    """One judge: versions by what they reach; for its own polling the trials under way alone."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    found = judge_of(project, judge_id)
    if request.htmx and "progress" in request.GET:
        running = _running(found)
        response = render(request, "metaeval/judge.html#progress", {"judge": found, "running": running})
        if not running:
            response["HX-Refresh"] = "true"
        return response
    report = judge_report(project, snapshot_of(project), found, AlignmentChoices.read(request.GET))
    split = split_of(project)
    context = {
        "judge": found,
        "page": judge_page(report),
        "report": report,
        "rows": list(reversed(report.rows)),
        "running": _running(found),
        "split": split,
        "parts": counts_of(project, shares_of(split)) if split else (),
        "openings": openings_of(project),
    }
    return render(request, "metaeval/judge.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def judge_try(request: SignedInRequest, slug: str, judge_id: int, number: int) -> HttpResponse:
    """Shows what a trial on the tuning part would send, then starts it."""
    version = _version(request, slug, judge_id, number)
    form = TrialForm(request.POST if request.method == "POST" else None)
    if _is_started(request, version, form, try_version):
        messages.success(request, f"{version} is being tried on the tuning part.")
        return redirect("judge", slug, judge_id)
    context = {
        "version": version,
        "judge": version.judge,
        "form": form,
        **_before_sending(partial(plan_of, version, Part.TUNING)),
    }
    return render(request, "metaeval/judge_try.html", context, status=422 if form.errors else 200)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def sealed_open(request: SignedInRequest, slug: str, judge_id: int, number: int) -> HttpResponse:
    """Asks first, with what would be sent, since an opening cannot be taken back."""
    version = _version(request, slug, judge_id, number)
    project = version.judge.project
    form = TrialForm(request.POST if request.method == "POST" else None)
    if _is_started(request, version, form, open_sealed):
        messages.success(request, f"The sealed part is opened for {version}.")
        return redirect("judge", slug, judge_id)
    split = split_of(project)
    sealed = counts_of(project, shares_of(split)) if split else ()
    context = {
        "version": version,
        "judge": version.judge,
        "sealed": next((each for each in sealed if each.part == Part.SEALED), None),
        "openings": openings_of(project),
        "form": form,
        **_before_sending(partial(plan_to_open, version)),
    }
    return render(request, "metaeval/sealed_open.html", context, status=422 if form.errors else 200)


def _is_started(
    request: SignedInRequest,
    version: JudgeVersion,
    form: TrialForm,
    start: Callable[[JudgeVersion, User, Decimal | None], object],
) -> bool:
    """False where the form was not sent, or says what is wrong."""
    if not form.is_valid():
        return False
    try:
        start(version, request.user, form.cleaned_data["budget"])
    except (InvalidRun, RunBusy) as error:
        form.refuse(str(error))
        return False
    return True


def _before_sending(planned: Callable[[], RunPlan]) -> dict[str, object]:
    """The plan with its estimate and three of its prompts, or why there is none."""
    try:
        found = planned()
    except (InvalidRun, RunBusy) as error:
        return {"refusal": str(error)}
    return {"plan": found, "estimate": estimate(found), "prompts_shown": True}


def _version(request: SignedInRequest, slug: str, judge_id: int, number: int) -> JudgeVersion:
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    return version_of(judge_of(project, judge_id), number)


def _judges(project: Project) -> list[dict[str, object]]:
    found = Judge.objects.filter(project=project).prefetch_related("versions__trials", "versions__openings")
    return [
        {
            "judge": each,
            "versions": len(each.versions.all()),
            "tried": sum(bool(version.trials.all()) for version in each.versions.all()),
            "opened": sum(len(version.openings.all()) for version in each.versions.all()),
        }
        for each in found
    ]


def _running(judge: Judge) -> list[dict[str, object]]:
    """Runs of its versions under way, on either part."""
    trials = Run.objects.filter(status__in=Run.UNFINISHED, setup__trials__version__judge=judge)
    runs = list(trials.distinct().select_related("setup"))
    progress = progress_of_runs(runs)
    return [{"run": run, "progress": progress[run.pk]} for run in runs]


def _in_percent(shares: Shares) -> dict[str, int]:
    return {"pool": round(100 * shares.pool), "tuning": round(100 * shares.tuning), "seed": shares.seed}
