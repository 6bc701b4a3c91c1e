"""The pages of runs: all runs, a new run, one run and its scores as rows of a spreadsheet."""

import json
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.errors import NotFound
from annotation.permissions import Permission
from annotation.web.csv_download import csv_download
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from scoring.contract.params import params_in_words, undeclared_params
from scoring.errors import InvalidRun, RunBusy
from scoring.evaluators import EVALUATORS, UnknownEvaluator, load_evaluator
from scoring.evaluators.catalogue import describe
from scoring.inputs.items import item_id
from scoring.models import Probe, Run, Setup
from scoring.replies.budgets import set_budget
from scoring.replies.run_costs import costs_of
from scoring.runs.budget_form import BudgetForm
from scoring.runs.choice import evaluators_for
from scoring.runs.estimates import estimate
from scoring.runs.forms import RunForm
from scoring.runs.lifecycle import cancel_run, delete_run, resume_run, run_of
from scoring.runs.planning import plan, refuse_delivery, start
from scoring.runs.probing import is_overdue, latest_probe, probe_of, seconds_expected, start_probe
from scoring.runs.progress import (
    cut_in,
    is_being_worked_on,
    pace_of,
    postponed_batches,
    progress_of,
    reasons_of,
    runs_of,
)
from scoring.workers.presence import is_served
from scoring.workers.wake_ups import queue_of

SCORES_HEADER = ("id", "article_id", "system", "dimension", "value", "reason", "explanation")


def score_rows(setup: Setup) -> Iterator[list[str | float | None]]:
    """Yield all scores of a setup, from all its runs, as rows of SCORES_HEADER; a missing value has a reason.

    The explanation is a model's reply, or how much of a long text was read.
    """
    columns = ("summary__article__external_id", "summary__system__name", *SCORES_HEADER[3:])
    rows = setup.scores.order_by("summary__article", "summary", "dimension").values_list(*columns)
    for article, system, *rest in rows.iterator():
        yield [item_id(article, system), article, system, *rest]


SHOWN_EXAMPLES = 40
"""The most ids of examples and articles on a run's page; a baseline may learn from 100,000."""


@require_safe
def runs(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the runs; for htmx, which polls, the list alone."""
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    found = runs_of(project)
    context = {"runs": found, "any_unfinished": any(each.is_unfinished for each, _ in found)}
    return render(
        request, "scoring/runs/runs.html#runs" if request.htmx else "scoring/runs/runs.html", context
    )


@require_http_methods(["GET", "HEAD", "POST"])
def run_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Choose an evaluator, then show its form with a preview; for htmx the preview alone."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    name = request.POST.get("evaluator") or request.GET.get("evaluator")
    if not name:
        families, others = evaluators_for(project)
        return render(request, "scoring/runs/choose.html", {"families": families, "others": others})
    try:
        [described] = describe([name])
    except UnknownEvaluator as error:
        raise NotFound(str(error)) from error
    form = RunForm(
        project,
        load_evaluator(name),
        request.POST if request.method == "POST" else None,
        initial={key: value for key, value in request.GET.items() if key.startswith("param_")},
    )
    planned = probe = asked = None
    if form.is_valid():
        try:
            planned = plan(project, name, form.given, form.selection)
            if request.POST.get("action") == "start":
                started = start(planned, request.user, form.most_to_spend, form.chosen_delivery)
                return redirect("run", slug, started.pk)
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
        # They stay visible, since leaving a field to press the button triggers another preview.
        "prompts_shown": Permission.SEE_TEXTS_AND_RATINGS in project.reader_may
        and (request.POST.get("action") == "dry_run" or "prompts" in request.POST),
        **(_estimate(probe) if probe else {}),
    }
    template = "scoring/runs/new.html#preview" if request.htmx else "scoring/runs/new.html"
    return render(request, template, context, status=422 if form.errors and not request.htmx else 200)


@require_safe
def run_probe(request: SignedInRequest, slug: str, probe_id: int) -> HttpResponse:
    """Show the state of a time estimate, a fragment of the preview that polls."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    probe = probe_of(project, probe_id)
    return render(request, "scoring/runs/_probe.html", {"project": project, **_estimate(probe)})


@require_safe
def run(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """Show a run; for htmx, which polls until the run ends, only what changes."""
    return _run_page(request, run_of(open_project(request, slug, Permission.SEE_PROGRESS), run_id))


@require_POST
def run_budget(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """Resume a paused run with another budget or none."""
    found = run_of(open_project(request, slug, Permission.MANAGE_RUNS), run_id)
    form = BudgetForm(request.POST)
    is_unlimited = request.POST.get("action") == "unlimited"
    if is_unlimited or form.is_valid():
        try:
            set_budget(found, None if is_unlimited else form.cleaned_data["budget"], request.user)
        except InvalidRun as refused:
            form.refuse(str(refused))
        else:
            return _act(request, slug, run_id, resume_run, "Run resumed.")
    return _run_page(request, found, budget_form=form)


@require_POST
def run_cancel(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    return _act(request, slug, run_id, cancel_run, "Run cancelled. Its scores are kept.")


@require_POST
def run_resume(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    return _act(request, slug, run_id, resume_run, "Run resumed.")


@require_http_methods(["GET", "HEAD", "POST"])
def run_delete(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """Ask for confirmation, then delete."""
    found = run_of(open_project(request, slug, Permission.MANAGE_RUNS), run_id)
    if request.method == "POST":
        delete_run(found, request.user)
        messages.success(request, f"Run {run_id} of {found.setup.label} and its scores deleted.")
        return redirect("runs", slug)
    context = {
        "run": found,
        "scores": found.scores.computed().count(),
        "is_last": not found.setup.runs.of_scores().exclude(pk=found.pk).exists(),
    }
    return render(request, "scoring/runs/delete.html", context)


@require_safe
def run_scores(request: SignedInRequest, slug: str, run_id: int) -> StreamingHttpResponse:
    """Export all scores of the run's setup, including its other runs, as CSV."""
    setup = run_of(open_project(request, slug, Permission.EXPORT_SCORES), run_id).setup
    name = slugify(f"{slug} {setup.label}") or slug
    return csv_download(f"{name}-scores.csv", chain([SCORES_HEADER], score_rows(setup)))


def _run_page(request: SignedInRequest, found: Run, **forms: Any) -> HttpResponse:
    """Render a run's page, or for htmx its state, with an invalid submitted form in `forms`."""
    progress, pace = progress_of(found), pace_of(found)
    context = {
        "run": found,
        "progress": progress,
        "pace": pace,
        "seconds_left": progress.left / pace if pace else None,
        "reasons": reasons_of(found),
        "cut": cut_in(found),
        "waits_in_vain": found.is_unfinished
        and not is_served(queue_of(found.setup))
        and not is_being_worked_on(found),
        "postponed": postponed_batches(found) if found.is_unfinished else {},
        "trial": found.trials.select_related("version").first(),
        "api_batches": found.api_batches.defer("requests", "summary_ids"),
        "costs": costs_of(found),
        "budget_form": BudgetForm(),
        **forms,
    }
    if request.htmx:
        return render(request, "scoring/runs/run.html#state", context)
    return render(
        request, "scoring/runs/run.html", context | _origin(found.setup), status=422 if forms else 200
    )


def _act(
    request: SignedInRequest, slug: str, run_id: int, act: Callable[[Run, User], None], done: str
) -> HttpResponse:
    found = run_of(open_project(request, slug, Permission.MANAGE_RUNS), run_id)
    try:
        act(found, request.user)
        messages.success(request, done)
    except (InvalidRun, RunBusy) as error:  # the page was outdated
        messages.warning(request, str(error))
    return redirect("run", slug, run_id)


def _estimate(probe: Probe) -> dict[str, Any]:
    return {
        "probe": probe,
        "seconds": seconds_expected(probe),
        "overdue": is_overdue(probe),
        "served": is_served(queue_of(probe)),
    }


def _origin(setup: Setup) -> dict[str, Any]:
    """Return the page's context about how the scores were computed."""
    seen = setup.seen_articles.order_by("external_id").distinct()
    described = describe([setup.evaluator])[0] if setup.evaluator in EVALUATORS else None
    return {
        "described": described,
        "params": params_in_words(load_evaluator(setup.evaluator), setup.params)
        if described
        else undeclared_params(setup.params),
        "seen": seen[:SHOWN_EXAMPLES],
        "seen_count": seen.count(),
        "provenance": json.dumps(_shortened(setup.provenance), indent=2, ensure_ascii=False),
    }


def _shortened(content: Any) -> Any:
    """Truncate long lists, with the number of entries left out."""
    if isinstance(content, dict):
        return {key: _shortened(each) for key, each in content.items()}
    if isinstance(content, list) and len(content) > SHOWN_EXAMPLES:
        return [*content[:SHOWN_EXAMPLES], f"and {len(content) - SHOWN_EXAMPLES:,} more (listed by the API)"]
    return content
