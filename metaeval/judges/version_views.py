"""Pages of a judge's versions: create a judge, create a version, compare versions."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.errors import DomainError, NotFound
from annotation.lookups import read_number
from annotation.models import Project
from annotation.permissions import Permission
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.judges.forms import JudgeForm, VersionForm
from metaeval.judges.versions import (
    add_version,
    completed,
    create_judge,
    differences,
    judge_of,
    read_version,
    version_of,
)
from scoring.contract.params import params_in_words
from scoring.evaluators import load_evaluator
from scoring.evaluators.catalogue import asking_evaluators, describe
from scoring.models import Judge, JudgeVersion


@require_http_methods(["GET", "HEAD", "POST"])
def judge_new(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    name = request.POST.get("evaluator") or request.GET.get("evaluator") or asking_evaluators()[0]
    if name not in asking_evaluators():
        raise NotFound(f"No evaluator called {name!r} uses a language model.")
    form = JudgeForm(project, load_evaluator(name), request.POST if request.method == "POST" else None)
    if form.is_valid():
        judge_name, note = form.cleaned_data["name"], form.cleaned_data["note"]
        try:
            made = create_judge(project, request.user, judge_name, name, form.given, note)
            messages.success(request, f"{made} created. Try it on the tuning part.")
            return redirect("judge", slug, made.judge_id)
        except DomainError as error:
            form.refuse(str(error))
    context = {"form": form, "evaluator": name, "title": describe([name])[0]["title"], "judge": None}
    return render(request, "metaeval/judges/form.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def judge_version_new(request: SignedInRequest, slug: str, judge_id: int, number: int) -> HttpResponse:
    """Create a version by editing version `number`; for htmx preview the differences."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    parent = version_of(judge_of(project, judge_id), number)
    evaluator = parent.judge.evaluator
    data = request.POST if request.method == "POST" else None
    form = VersionForm(project, load_evaluator(evaluator), data, completed(evaluator, parent.params))
    found = None
    if form.is_valid():
        try:
            if not request.htmx:
                made = add_version(parent, request.user, form.given, form.cleaned_data["note"])
                messages.success(request, f"{made} created. Try it on the tuning part.")
                return redirect("judge", slug, judge_id)
            found = _from_parent(project, parent, form.given)
        except DomainError as error:
            form.refuse(str(error))
    context = {"form": form, "judge": parent.judge, "parent": parent, "differences": found}
    template = "metaeval/judges/form.html#preview" if request.htmx else "metaeval/judges/form.html"
    return render(request, template, context, status=422 if form.errors and not request.htmx else 200)


@require_safe
def judge_version(request: SignedInRequest, slug: str, judge_id: int, number: int) -> HttpResponse:
    """Show all parameters, and the differences from the parent or the version `with`."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    judge = judge_of(project, judge_id)
    version = version_of(judge, number)
    other = _compared_with(judge, version, request.GET.get("with", ""))
    evaluator = judge.evaluator
    params = completed(evaluator, version.params)
    context = {
        "judge": judge,
        "version": version,
        "other": other,
        "others": judge.versions.exclude(pk=version.pk),
        "differences": differences(completed(evaluator, other.params), params) if other else None,
        "params": params_in_words(load_evaluator(evaluator), params),
    }
    return render(request, "metaeval/judges/version.html", context)


def _compared_with(judge: Judge, version: JudgeVersion, chosen: str) -> JudgeVersion | None:
    if not chosen:
        return version.parent
    number = read_number(chosen)
    if number is None:
        raise DomainError(f"with: found {chosen[:20]!r}, expected a version number")
    return version_of(judge, number)


def _from_parent(project: Project, parent: JudgeVersion, given: dict[str, Any]) -> list[Any]:
    evaluator = parent.judge.evaluator
    return differences(completed(evaluator, parent.params), read_version(project, evaluator, given))
