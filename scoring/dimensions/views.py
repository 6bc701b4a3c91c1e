"""The pages of dimensions: custom, built-in, and from the project's questions."""

from collections.abc import Mapping
from dataclasses import asdict

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.labels import answered
from annotation.lookups import one_of
from annotation.models import Project
from annotation.permissions import Permission
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from scoring.dimensions.project_dimensions import (
    add_dimension,
    change_dimension,
    known_dimensions,
    remove_dimension,
)
from scoring.errors import InvalidDimension
from scoring.models import JudgedDimension
from scoring.prompts.dimensions import Dimension


class DimensionForm(forms.Form):
    """A custom dimension. The action validates it."""

    name = forms.CharField(
        required=False,
        help_text="A name such as focus. A question on it provides labels for examples.",
    )
    description = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="A question that a good summary answers with yes. Judges read it verbatim.",
    )
    sees = forms.ChoiceField(
        required=False,
        label="Judge sees",
        choices=JudgedDimension.Sees.choices,
        widget=forms.RadioSelect,
        initial=JudgedDimension.Sees.ARTICLE,
    )

    def __init__(self, data: Mapping[str, str] | None = None, shown: Dimension | None = None) -> None:
        super().__init__(data, initial=asdict(shown) if shown else None)


@require_http_methods(["GET", "HEAD", "POST"])
def dimensions(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the dimensions; add one. With ?like=NAME the form starts with that dimension's description."""
    posted = request.method == "POST"
    project = open_project(request, slug, Permission.MANAGE_PROJECT if posted else Permission.MANAGE_RUNS)
    known = known_dimensions(project)
    like = [each.dimension for each in known if each.dimension.name == request.GET.get("like")]
    form = DimensionForm(request.POST if posted else None, next(iter(like), None))
    if form.is_valid():
        try:
            added = add_dimension(project, request.user, **form.cleaned_data)
        except InvalidDimension as refused:
            form.add_error(None, ValidationError(refused.fields))
        else:
            messages.success(request, f"Dimension {added} added. New runs can use it.")
            return redirect("dimensions", slug)
    context = {
        "form": form,
        "known": known,
        "labelled": _labelled(project),
        "may_edit": Permission.MANAGE_PROJECT in project.reader_may,
    }
    return render(request, "scoring/dimensions/dimensions.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def dimension(request: SignedInRequest, slug: str, dimension_id: int) -> HttpResponse:
    """Edit a custom dimension."""
    found = _to_edit(request, slug, dimension_id)
    words = Dimension(found.name, found.sees, found.description)
    form = DimensionForm(request.POST if request.method == "POST" else None, words)
    if form.is_valid():
        try:
            changed = change_dimension(found, request.user, **form.cleaned_data)
        except InvalidDimension as refused:
            form.add_error(None, ValidationError(refused.fields))
        else:
            messages.success(request, f"Dimension {changed} saved. Existing runs keep its old description.")
            return redirect("dimensions", slug)
    context = {"form": form, "dimension": found}
    return render(request, "scoring/dimensions/dimension.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def dimension_remove(request: SignedInRequest, slug: str, dimension_id: int) -> HttpResponse:
    """Ask for confirmation, then delete."""
    found = _to_edit(request, slug, dimension_id)
    if request.method == "POST":
        remove_dimension(found, request.user)
        messages.success(request, f"Dimension {found} deleted.")
        return redirect("dimensions", slug)
    [known] = [each for each in known_dimensions(found.project) if each.own == found]
    return render(request, "scoring/dimensions/remove.html", {"dimension": found, "known": known})


def _to_edit(request: SignedInRequest, slug: str, dimension_id: int) -> JudgedDimension:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    return one_of(JudgedDimension.objects.filter(project=project), dimension_id, "dimension")


def _labelled(project: Project) -> set[str]:
    """Return the titles of questions that somebody has answered."""
    questions = project.questionnaire.questions.all()
    return {question.title for question in questions if answered(project, question).exists()}
