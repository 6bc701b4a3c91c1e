"""Versions of a judge: a new judge, a new version with what it differs in, one version compared."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.context import open_project
from annotation.errors import DomainError, NotFound
from annotation.models import Project
from annotation.permissions import Permission
from annotation.signed_in import SignedInRequest
from metaeval.forms.alignment import JudgeForm, VersionForm
from scoring.alignment.differences import differences
from scoring.alignment.judges import (
    add_version,
    completed,
    create_judge,
    judge_of,
    read_version,
    version_of,
)
from scoring.catalogue import asking_evaluators, describe
from scoring.evaluators import load_evaluator
from scoring.models import Judge, JudgeVersion
from scoring.params import declared_params, value_as_text


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def judge_new(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    name = request.POST.get("evaluator") or request.GET.get("evaluator") or asking_evaluators()[0]
    if name not in asking_evaluators():
        raise NotFound(f"There is no evaluator called {name!r} that asks a language model.")
    form = JudgeForm(project, load_evaluator(name), request.POST if request.method == "POST" else None)
    if form.is_valid():
        judge_name, note = form.cleaned_data["name"], form.cleaned_data["note"]
        try:
            made = create_judge(project, request.user, judge_name, name, form.given, note)
            messages.success(request, f"{made} is there. Try it on the tuning part.")
            return redirect("judge", slug, made.judge_id)
        except DomainError as error:
            form.refuse(str(error))
    context = {"form": form, "evaluator": name, "title": describe([name])[0]["title"], "judge": None}
    return render(request, "metaeval/judge_form.html", context, status=422 if form.errors else 200)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def judge_version_new(request: SignedInRequest, slug: str, judge_id: int, number: int) -> HttpResponse:
    """A version made by editing version `number`; for htmx what it would differ in."""
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
                messages.success(request, f"{made} is there. Try it on the tuning part.")
                return redirect("judge", slug, judge_id)
            found = _from_parent(project, parent, form.given)
        except DomainError as error:
            form.refuse(str(error))
    context = {"form": form, "judge": parent.judge, "parent": parent, "differences": found}
    template = "metaeval/judge_form.html#preview" if request.htmx else "metaeval/judge_form.html"
    return render(request, template, context, status=422 if form.errors and not request.htmx else 200)


@never_cache
@login_required
@require_safe
def judge_version(request: SignedInRequest, slug: str, judge_id: int, number: int) -> HttpResponse:
    """All parameters, and what differs from the parent or from the version `with`."""
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
        "params": [(name, value_as_text(params[name])) for name in _in_order(evaluator, params)],
    }
    return render(request, "metaeval/judge_version.html", context)


def _compared_with(judge: Judge, version: JudgeVersion, chosen: str) -> JudgeVersion | None:
    if not chosen:
        return version.parent
    if not chosen.isascii() or not chosen.isdecimal() or len(chosen) > 9:
        raise DomainError(f"with: found {chosen!r}, expected the number of a version")
    return version_of(judge, int(chosen))


def _in_order(evaluator: str, params: Mapping[str, Any]) -> list[str]:
    """Names as they are declared, then those of parameters that are there no more."""
    declared = (spec.name for spec in declared_params(load_evaluator(evaluator).Params))
    return list(dict.fromkeys([*(name for name in declared if name in params), *params]))


def _from_parent(project: Project, parent: JudgeVersion, given: dict[str, Any]) -> list[Any]:
    evaluator = parent.judge.evaluator
    return differences(completed(evaluator, parent.params), read_version(project, evaluator, given))
