"""Starting an experiment, making one of evaluators that are there, and what is done with all its runs."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.context import open_project
from annotation.errors import DomainError, NotFound
from annotation.permissions import Permission
from annotation.signed_in import SignedInRequest
from annotation.templatetags.figures import noun
from scoring.catalogue import describe
from scoring.errors import InvalidFamily
from scoring.evaluators import FAMILIES, UnknownEvaluator, load_evaluator
from scoring.families.following import Followed, cancel_all, delete_family, family_of, resume_all
from scoring.families.starting import estimate_family, family_of_setups, plan_family, start_family
from scoring.forms.family_form import CompareForm, FamilyForm
from scoring.models import EvaluatorSetup

FIRST_OFFERED = "ice"
"""The evaluator whose paper these experiments are of."""


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def experiment_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """The form with a preview; for htmx the preview alone."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    name = request.POST.get("evaluator") or request.GET.get("evaluator") or FIRST_OFFERED
    try:
        [described] = describe([name])
    except UnknownEvaluator as error:
        raise NotFound(str(error)) from error
    form = FamilyForm(project, load_evaluator(name), request.POST if request.method == "POST" else None)
    planned = estimate = None
    if form.is_valid():
        try:
            planned = plan_family(project, form.wanted)
            if request.POST.get("action") == "start":
                family = start_family(planned, request.user)
                return redirect("experiment", slug, family.pk)
            estimate = estimate_family(planned)
        except InvalidFamily as error:
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
    template = "metaeval/experiment_new.html#preview" if request.htmx else "metaeval/experiment_new.html"
    return render(request, template, context, status=422 if form.errors and not request.htmx else 200)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def experiment_compare(request: SignedInRequest, slug: str) -> HttpResponse:
    """A family of evaluators that have scores already."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    setups = list(EvaluatorSetup.objects.filter(project=project).defer("provenance", "pool", "corpus"))
    form = CompareForm(
        setups, request.POST if request.method == "POST" else None, picked=request.GET.getlist("only")
    )
    if form.is_valid():
        given = form.cleaned_data
        try:
            family = family_of_setups(project, request.user, given["name"], given["kind"], form.labelled)
            return redirect("experiment", slug, family.pk)
        except DomainError as error:
            form.refuse(str(error))
    context = {"form": form, "n_setups": len(setups)}
    return render(request, "metaeval/experiment_compare.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def experiment_cancel(request: SignedInRequest, slug: str, family_id: int) -> HttpResponse:
    return _act(
        request, slug, family_id, cancel_all, "run is,runs are", "cancelled. What has been scored is kept."
    )


@login_required
@require_POST
def experiment_resume(request: SignedInRequest, slug: str, family_id: int) -> HttpResponse:
    return _act(request, slug, family_id, resume_all, "run goes,runs go", "on with what is missing.")


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def experiment_delete(request: SignedInRequest, slug: str, family_id: int) -> HttpResponse:
    """Asks first."""
    followed = family_of(open_project(request, slug, Permission.MANAGE_RUNS), family_id)
    if request.method == "POST":
        delete_family(followed, request.user)
        messages.success(request, f"The experiment {followed.family.name} is deleted; its runs are kept.")
        return redirect("experiments", slug)
    return render(request, "metaeval/experiment_delete.html", {"followed": followed})


def _act(
    request: SignedInRequest,
    slug: str,
    family_id: int,
    act: Callable[[Followed, User], int],
    forms: str,
    done: str,
) -> HttpResponse:
    followed = family_of(open_project(request, slug, Permission.MANAGE_RUNS), family_id)
    messages.success(request, f"{noun(act(followed, request.user), forms)} {done}")
    return redirect("experiment", slug, family_id)
