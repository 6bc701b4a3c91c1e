"""The audit log as a page and as a file, for managers."""

from itertools import chain

from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.audit.entries import (
    COLUMNS,
    COMMAND,
    action_title,
    details_in_words,
    entry_rows,
    find_entries,
)
from annotation.audit.forms import AuditFilterForm
from annotation.permissions import Permission
from annotation.web.csv_download import csv_download
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest

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
    return render(request, "annotation/audit_log.html", context, status=422 if form.errors else 200)


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
