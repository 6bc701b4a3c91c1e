"""The page that puts summaries first that evaluators are unsure about."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.errors import DomainError
from annotation.models import Project
from annotation.open_places import ORDER_IS_FIXED, work_has_begun
from annotation.permissions import Permission
from annotation.web.csv_download import csv_download
from annotation.web.form_choices import offer
from annotation.web.form_refusals import add_refusal
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.models import Priority
from metaeval.priority.setting import (
    chance_rows,
    evaluators_with_scores,
    remove_priority,
    set_priority,
)


class PriorityForm(forms.Form):
    question = forms.ChoiceField()
    evaluators = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        help_text="One whose scores are the chance of yes, or several, whose disagreement counts.",
    )

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(data, label_suffix="")
        offer(self, "question", project.questionnaire.questions.values_list("key", "title"))
        offer(self, "evaluators", [(each.key, each.label) for each in evaluators_with_scores(project)])

    @property
    def has_evaluators(self) -> bool:
        return len(list(self["evaluators"].subwidgets)) > 0


@require_http_methods(["GET", "HEAD", "POST"])
def priority(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    has_begun = work_has_begun(project)
    if has_begun and request.method == "POST":
        messages.error(request, ORDER_IS_FIXED)
        return redirect("priority", slug)
    form = None if has_begun else PriorityForm(project, request.POST if request.method == "POST" else None)
    if form and form.is_bound and form.is_valid():
        given = form.cleaned_data
        try:
            set_priority(project, request.user, given["question"], given["evaluators"])
        except DomainError as error:
            add_refusal(form, str(error))
        else:
            messages.success(request, "Saved. Summaries that evaluators are unsure about come earlier.")
            return redirect("priority", slug)
    current = Priority.objects.filter(project=project).first()
    titles = dict(project.questionnaire.questions.values_list("key", "title"))
    context = {
        "form": form,
        "current": current,
        "question": titles.get(current.question_key, current.question_key) if current else "",
        "has_begun": has_begun,
    }
    status = 422 if form and form.errors else 200
    return render(request, "metaeval/priority/priority.html", context, status=status)


@require_POST
def priority_remove(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    try:
        remove_priority(project, request.user)
    except DomainError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Summaries come in random order.")
    return redirect("priority", slug)


@require_safe
def priority_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    return csv_download(f"{slug}-draws.csv", chance_rows(project))
