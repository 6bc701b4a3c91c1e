"""Start, create, cancel, resume and delete an experiment."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.errors import DomainError, NotFound
from annotation.permissions import Permission
from annotation.templatetags.figures import noun
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.experiments.following import Followed, cancel_all, delete_experiment, experiment_of, resume_all
from metaeval.experiments.forms import CompareForm, ExperimentForm
from metaeval.experiments.starting import (
    estimate_experiment,
    experiment_of_setups,
    plan_experiment,
    start_experiment,
)
from scoring.errors import InvalidExperiment
from scoring.evaluators import FAMILIES, UnknownEvaluator, load_evaluator
from scoring.evaluators.catalogue import describe
from scoring.models import Setup

FIRST_OFFERED = "ice"
"""The evaluator of the paper that introduced these experiments."""


@require_http_methods(["GET", "HEAD", "POST"])
def experiment_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form of a new experiment and start it; for htmx preview it."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    name = request.POST.get("evaluator") or request.GET.get("evaluator") or FIRST_OFFERED
    try:
        [described] = describe([name])
    except UnknownEvaluator as error:
        raise NotFound(str(error)) from error
    form = ExperimentForm(project, load_evaluator(name), request.POST if request.method == "POST" else None)
    planned = estimate = None
    if form.is_valid():
        try:
            planned = plan_experiment(project, form.wanted)
            if request.POST.get("action") == "start":
                experiment = start_experiment(planned, request.user)
                return redirect("experiment", slug, experiment.pk)
            estimate = estimate_experiment(planned)
        except InvalidExperiment as error:
            for value, why in error.refused.items():
                form.refuse_member(value, why)
        except DomainError as error:
            form.refuse(str(error))
    families = {family: describe(names) for family, names in FAMILIES.items()}
    context = {
        "form": form,
        "evaluator": described,
        "plan": planned,
        "estimate": estimate,
        "families": families,
    }
    template = "metaeval/experiments/new.html#preview" if request.htmx else "metaeval/experiments/new.html"
    return render(request, template, context, status=422 if form.errors and not request.htmx else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def experiment_compare(request: SignedInRequest, slug: str) -> HttpResponse:
    """Create an experiment of evaluators that have scores."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    setups = list(Setup.objects.filter(project=project).defer("provenance", "pool", "corpus"))
    form = CompareForm(
        setups, request.POST if request.method == "POST" else None, picked=request.GET.getlist("only")
    )
    if form.is_valid():
        given = form.cleaned_data
        try:
            experiment = experiment_of_setups(
                project, request.user, given["name"], given["kind"], form.labelled
            )
            return redirect("experiment", slug, experiment.pk)
        except DomainError as error:
            form.refuse(str(error))
    context = {"form": form, "n_setups": len(setups)}
    return render(request, "metaeval/experiments/compare.html", context, status=422 if form.errors else 200)


@require_POST
def experiment_cancel(request: SignedInRequest, slug: str, experiment_id: int) -> HttpResponse:
    return _act(request, slug, experiment_id, cancel_all, "cancelled. Their scores are kept.")


@require_POST
def experiment_resume(request: SignedInRequest, slug: str, experiment_id: int) -> HttpResponse:
    return _act(request, slug, experiment_id, resume_all, "resumed.")


@require_http_methods(["GET", "HEAD", "POST"])
def experiment_delete(request: SignedInRequest, slug: str, experiment_id: int) -> HttpResponse:
    """Ask for confirmation, then delete the experiment."""
    followed = experiment_of(open_project(request, slug, Permission.MANAGE_RUNS), experiment_id)
    if request.method == "POST":
        delete_experiment(followed, request.user)
        messages.success(request, f"Experiment {followed.experiment.name} deleted. Its runs are kept.")
        return redirect("experiments", slug)
    return render(request, "metaeval/experiments/delete.html", {"followed": followed})


def _act(
    request: SignedInRequest,
    slug: str,
    experiment_id: int,
    act: Callable[[Followed, User], int],
    done: str,
) -> HttpResponse:
    followed = experiment_of(open_project(request, slug, Permission.MANAGE_RUNS), experiment_id)
    messages.success(request, f"{noun(act(followed, request.user), 'run,runs')} {done}")
    return redirect("experiment", slug, experiment_id)
