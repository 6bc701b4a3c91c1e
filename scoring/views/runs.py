"""The evaluators' pages: runs, a new run, one run."""

import csv
import json
from collections.abc import Callable
from itertools import chain
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.context import open_project
from annotation.errors import NotFound
from annotation.permissions import Permission
from annotation.signed_in import SignedInRequest
from scoring.catalogue import describe
from scoring.endpoints.account import account_of
from scoring.endpoints.budgets import set_budget
from scoring.endpoints.estimates import estimate
from scoring.errors import InvalidRun, RunBusy
from scoring.evaluators import EVALUATORS, FAMILIES, UnknownEvaluator, load_evaluator
from scoring.forms.budget_form import BudgetForm
from scoring.forms.run_form import RunForm
from scoring.models import EvaluatorSetup, Probe, Run
from scoring.params import value_as_text
from scoring.planning import plan, plan_run, refuse_delivery
from scoring.presence import is_served
from scoring.probing import is_overdue, latest_probe, probe_of, seconds_expected, start_probe
from scoring.progress import (
    cut_in,
    pace_of,
    postponed_batches,
    progress_of,
    reasons_of,
    runs_of,
    seconds_left,
)
from scoring.runs import cancel_run, delete_run, resume_run, run_of
from scoring.score_table import HEADER, score_rows
from scoring.waking import queue_of
from scoring.weights import is_here

SHOWN_EXAMPLES = 40
"""Ids of examples and articles shown on a run's page; a baseline learns from a hundred thousand."""


@never_cache
@login_required
@require_safe
def runs(request: SignedInRequest, slug: str) -> HttpResponse:
    """The list, and for its own polling the list alone."""
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    found = runs_of(project)
    context = {"runs": found, "any_unfinished": any(each.is_unfinished for each, _ in found)}
    return render(request, "scoring/runs.html#runs" if request.htmx else "scoring/runs.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def run_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """The choice of an evaluator, then its form with a preview; for htmx the preview alone."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    name = request.POST.get("evaluator") or request.GET.get("evaluator")
    if not name:
        families = {
            family: [each | {"weights_are": _default_weights(each)} for each in describe(names)]
            for family, names in FAMILIES.items()
        }
        return render(request, "scoring/run_choose.html", {"families": families})
    try:
        [described] = describe([name])
    except UnknownEvaluator as error:
        raise NotFound(str(error)) from error
    form = RunForm(project, load_evaluator(name), request.POST if request.method == "POST" else None)
    planned = probe = asked = None
    if form.is_valid():
        try:
            if request.POST.get("action") == "start":
                started = plan_run(
                    project,
                    name,
                    form.given,
                    request.user,
                    form.selection,
                    form.most_to_spend,
                    form.chosen_delivery,
                )
                return redirect("run", slug, started.pk)
            planned = plan(project, name, form.given, form.selection)
            refuse_delivery(planned, form.chosen_delivery)
            if request.POST.get("action") == "probe":
                probe = start_probe(project, name, form.given, request.user, form.selection)
            else:
                probe, asked = latest_probe(planned), estimate(planned)
        except (InvalidRun, RunBusy) as error:
            form.refuse(str(error))
    context = {
        "form": form,
        "evaluator": described,
        "plan": planned,
        "estimate": asked,
        # Once asked for they stay: a field left for the button has changed, and its preview comes later.
        "prompts_shown": request.POST.get("action") == "dry_run" or "prompts" in request.POST,
        **(_estimate(probe) if probe else {}),
    }
    template = "scoring/run_new.html#preview" if request.htmx else "scoring/run_new.html"
    return render(request, template, context, status=422 if form.errors and not request.htmx else 200)


@never_cache
@login_required
@require_safe
def run_probe(request: SignedInRequest, slug: str, probe_id: int) -> HttpResponse:
    """What an estimate has found by now: a part of the form's preview, which asks for it again and again."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    probe = probe_of(project, probe_id)
    return render(request, "scoring/_probe.html", {"project": project, **_estimate(probe)})


@never_cache
@login_required
@require_safe
def run(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """The page, and for its own polling what moves: without a trigger once the run has ended."""
    return _run_page(request, run_of(open_project(request, slug, Permission.SEE_PROGRESS), run_id))


@login_required
@require_POST
def run_budget(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """A paused run goes on, with another budget or none."""
    found = run_of(open_project(request, slug, Permission.MANAGE_RUNS), run_id)
    form = BudgetForm(request.POST)
    is_unlimited = request.POST.get("action") == "unlimited"
    if is_unlimited or form.is_valid():
        try:
            set_budget(found, None if is_unlimited else form.cleaned_data["budget"], request.user)
        except InvalidRun as refused:
            form.refuse(str(refused))
        else:
            return _act(request, slug, run_id, resume_run, "The run goes on with what is missing.")
    return _run_page(request, found, budget_form=form)


@login_required
@require_POST
def run_cancel(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    return _act(request, slug, run_id, cancel_run, "The run is cancelled. What it has scored is kept.")


@login_required
@require_POST
def run_resume(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    return _act(request, slug, run_id, resume_run, "The run goes on with what is missing.")


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def run_delete(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """Asks first."""
    found = run_of(open_project(request, slug, Permission.MANAGE_RUNS), run_id)
    if request.method == "POST":
        delete_run(found, request.user)
        messages.success(request, f"Run {run_id} of {found.setup.label} and its scores are deleted.")
        return redirect("runs", slug)
    context = {
        "run": found,
        "scores": found.scores.computed().count(),
        "is_last": found.setup.runs.count() == 1,
    }
    return render(request, "scoring/run_delete.html", context)


@login_required
@require_safe
def run_scores(request: SignedInRequest, slug: str, run_id: int) -> StreamingHttpResponse:
    """All scores of the run's setup, those of its other runs among them, as CSV."""
    setup = run_of(open_project(request, slug, Permission.EXPORT_SCORES), run_id).setup
    write = csv.writer(_Echo()).writerow
    lines = map(write, chain([HEADER], score_rows(setup)))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    name = slugify(f"{slug} {setup.label}") or slug
    response["Content-Disposition"] = f'attachment; filename="{name}-scores.csv"'
    return response


class _Echo:
    """A file that gives back what is written to it, so that rows leave one by one."""

    def write(self, line: str) -> str:
        return line


def _run_page(request: SignedInRequest, found: Run, **forms: Any) -> HttpResponse:
    """The run's page, or what of it moves; with the form that was sent and is wrong, as `forms` has it."""
    progress, pace = progress_of(found), pace_of(found)
    context = {
        "run": found,
        "progress": progress,
        "pace": pace,
        "seconds_left": seconds_left(progress, pace),
        "reasons": reasons_of(found),
        "cut": cut_in(found),
        "postponed": postponed_batches(found) if found.is_unfinished else None,
        "trial": found.trials.select_related("version").first(),
        "hand_ins": found.hand_ins.defer("requests", "summary_ids"),
        "account": account_of(found),
        "budget_form": BudgetForm(),
        **forms,
    }
    if request.htmx:
        return render(request, "scoring/run.html#state", context)
    return render(request, "scoring/run.html", context | _origin(found.setup), status=422 if forms else 200)


def _act(
    request: SignedInRequest, slug: str, run_id: int, act: Callable[[Run, User], None], done: str
) -> HttpResponse:
    found = run_of(open_project(request, slug, Permission.MANAGE_RUNS), run_id)
    try:
        act(found, request.user)
        messages.success(request, done)
    except (InvalidRun, RunBusy) as error:  # the page was behind the run, or the operator says no
        messages.warning(request, str(error))
    return redirect("run", slug, run_id)


def _estimate(probe: Probe) -> dict[str, Any]:
    return {
        "probe": probe,
        "seconds": seconds_expected(probe),
        "overdue": is_overdue(probe),
        "served": is_served(queue_of(probe)),
    }


def _default_weights(described: dict[str, Any]) -> str:
    """Whether an evaluator's models are "here" or "missing"; "unnamed" where each run has to name one."""
    naming = [each for each in described["parameters"] if each["is_weights"]]
    if any(each["required"] for each in naming):
        return "unnamed"
    return "here" if all(is_here(each["default"]) for each in naming if each["default"]) else "missing"


def _origin(setup: EvaluatorSetup) -> dict[str, Any]:
    """What the page says about how the numbers were made."""
    seen = setup.seen_articles.order_by("external_id")
    described = describe([setup.evaluator])[0] if setup.evaluator in EVALUATORS else None
    meanings = {each["name"]: each["doc"] for each in described["parameters"]} if described else {}
    return {
        "described": described,
        "params": [
            (name, value_as_text(value), meanings.get(name, "")) for name, value in setup.params.items()
        ],
        "seen": seen[:SHOWN_EXAMPLES],
        "seen_count": seen.count(),
        "provenance": json.dumps(_shortened(setup.provenance), indent=2, ensure_ascii=False),
    }


def _shortened(content: Any) -> Any:
    """Long lists cut after their first entries, with the number of the others."""
    if isinstance(content, dict):
        return {key: _shortened(each) for key, each in content.items()}
    if isinstance(content, list) and len(content) > SHOWN_EXAMPLES:
        return [*content[:SHOWN_EXAMPLES], f"and {len(content) - SHOWN_EXAMPLES:,} more, which the API lists"]
    return content
