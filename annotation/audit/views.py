"""The audit log as a page and as a file, with filters, for managers."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from django import forms
from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.audit.actions import Action
from annotation.audit.entries import (
    COLUMNS,
    COMMAND,
    action_title,
    actors_of,
    details_in_words,
    entry_rows,
    find_entries,
)
from annotation.models import Project
from annotation.permissions import Permission
from annotation.web.csv_download import csv_download
from annotation.web.form_choices import offer
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


class AuditFilterForm(forms.Form):
    action = forms.ChoiceField(required=False, choices=[("", "all"), *Action.choices])
    actor = forms.ChoiceField(label="Person", required=False)
    since = forms.DateField(label="From", required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label="To", required=False, widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, project: Project, data: Mapping[str, str]) -> None:
        super().__init__(data, auto_id="filter_%s", label_suffix="")
        offer(self, "actor", [("", "all"), *((name, name) for name in actors_of(project))])

    def filters(self) -> dict[str, Any]:
        """Return the filters of `find_entries`. A field with an invalid value admits all entries."""
        self.is_valid()
        return self.cleaned_data


ENTRIES_ON_A_PAGE = 50


@require_safe
def audit_log(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    form = AuditFilterForm(project, request.GET)
    page = Paginator(find_entries(project, **form.filters()), ENTRIES_ON_A_PAGE).get_page(
        request.GET.get("page")
    )
    kept = request.GET.copy()
    kept.pop("page", None)
    context = {
        "form": form,
        "page": page,
        "rows": [
            (entry, entry.actor_name or COMMAND, action_title(entry.action), details_in_words(entry.details))
            for entry in page
        ],
        "query": kept.urlencode(),
        "filtered": any(request.GET.get(name) for name in form.fields),
        "previous": "← Later",
        "next": "Earlier →",
    }
    return render(request, "annotation/audit/log.html", context, status=422 if form.errors else 200)


@require_safe
def audit_log_csv(request: SignedInRequest, slug: str) -> HttpResponse | StreamingHttpResponse:
    """Send the entries that match the filters, or the page with the invalid filters."""
    project = open_project(request, slug, Permission.MANAGE_PEOPLE)
    form = AuditFilterForm(project, request.GET)
    filters = form.filters()
    if form.errors:
        return audit_log(request, slug)
    rows = entry_rows(find_entries(project, **filters))
    return csv_download(f"{project.slug}-audit-log.csv", chain([COLUMNS], rows))
