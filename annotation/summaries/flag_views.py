"""The list of flagged articles, and the forms that resolve a flag and open it again."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.errors import InvalidFields
from annotation.permissions import Permission
from annotation.summaries.flags import LONGEST_NOTE, flags_in, reopen_flag, resolve_flag
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest

FLAGS_ON_A_PAGE = 25


@require_safe
def flags(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    found = flags_in(project)
    context = {
        "page": Paginator(found, FLAGS_ON_A_PAGE).get_page(request.GET.get("page")),
        "open_count": found.filter(resolved_at__isnull=True).count(),
        "manages": Permission.MANAGE_PROJECT in project.reader_may,
        "sees_names": Permission.MANAGE_PEOPLE in project.reader_may,
        "longest": LONGEST_NOTE,
    }
    return render(request, "annotation/summaries/flags.html", context)


@require_POST
def flag_resolve(request: SignedInRequest, slug: str, flag_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    try:
        resolve_flag(project, request.user, flag_id, request.POST.get("note", ""))
    except InvalidFields as refused:
        messages.error(request, f"Flag not resolved. {refused.fields['note']}")
    else:
        messages.success(request, "Flag resolved.")
    return _back(request, slug)


@require_POST
def flag_reopen(request: SignedInRequest, slug: str, flag_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    reopen_flag(project, request.user, flag_id)
    messages.success(request, "Flag opened again.")
    return _back(request, slug)


def _back(request: SignedInRequest, slug: str) -> HttpResponse:
    """Return to the list's page that the form was on."""
    page = request.POST.get("page", "")
    return redirect(reverse("flags", args=[slug]) + (f"?page={page}" if page.isdecimal() else ""))
