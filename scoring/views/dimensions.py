"""The pages of what judges are asked about: ready dimensions, the project's own, and its questions'."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.context import open_project
from annotation.labels import answered
from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission, permissions_of
from annotation.signed_in import SignedInRequest
from scoring.errors import InvalidDimension
from scoring.forms.dimension_form import DimensionForm
from scoring.judge.dimensions import Dimension
from scoring.judged_dimensions import (
    Known,
    add_dimension,
    change_dimension,
    known_dimensions,
    remove_dimension,
)
from scoring.models import JudgedDimension


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def dimensions(request: SignedInRequest, slug: str) -> HttpResponse:
    """The list; a manager adds to it. With ?like=NAME the form has that dimension's words to begin with."""
    posted = request.method == "POST"
    project = open_project(request, slug, Permission.MANAGE_PROJECT if posted else Permission.MANAGE_RUNS)
    known = known_dimensions(project)
    form = DimensionForm(request.POST if posted else None, _named(known, request.GET.get("like", "")))
    if form.is_valid():
        try:
            added = add_dimension(project, request.user, **form.cleaned_data)
        except InvalidDimension as refused:
            form.refuse(refused)
        else:
            messages.success(request, f"{added} is in the list. Runs can name it from now on.")
            return redirect("dimensions", slug)
    context = {
        "form": form,
        "known": known,
        "labelled": _labelled(project),
        "may_edit": Permission.MANAGE_PROJECT in permissions_of(request.user, project),
    }
    return render(request, "scoring/dimensions.html", context, status=422 if form.errors else 200)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def dimension(request: SignedInRequest, slug: str, dimension_id: int) -> HttpResponse:
    """The form that changes one."""
    found = _to_edit(request, slug, dimension_id)
    words = Dimension(found.name, found.sees, found.description)
    form = DimensionForm(request.POST if request.method == "POST" else None, words)
    if form.is_valid():
        try:
            changed = change_dimension(found, request.user, **form.cleaned_data)
        except InvalidDimension as refused:
            form.refuse(refused)
        else:
            messages.success(
                request, f"{changed} is changed. Runs that are there keep the words of their time."
            )
            return redirect("dimensions", slug)
    context = {"form": form, "dimension": found}
    return render(request, "scoring/dimension.html", context, status=422 if form.errors else 200)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def dimension_remove(request: SignedInRequest, slug: str, dimension_id: int) -> HttpResponse:
    """Asks first."""
    found = _to_edit(request, slug, dimension_id)
    if request.method == "POST":
        remove_dimension(found, request.user)
        messages.success(request, f"{found} is no longer in the list.")
        return redirect("dimensions", slug)
    [known] = [each for each in known_dimensions(found.project) if each.own == found]
    return render(request, "scoring/dimension_remove.html", {"dimension": found, "known": known})


def _to_edit(request: SignedInRequest, slug: str, dimension_id: int) -> JudgedDimension:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    return one_of(JudgedDimension.objects.filter(project=project), dimension_id, "dimension")


def _named(known: list[Known], name: str) -> Dimension | None:
    return next((each.dimension for each in known if each.dimension.name == name), None)


def _labelled(project: Project) -> set[str]:
    """Titles of the questions that somebody has answered."""
    questions = project.questionnaire.questions.all()
    return {question.title for question in questions if answered(project, question).exists()}
