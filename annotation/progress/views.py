"""The live page of a project's progress."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.permissions import Permission
from annotation.progress.daily_bars import daily_bars
from annotation.progress.progress import PACE_DAYS, progress_of, progress_version
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


@require_safe
def progress(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the progress. Polling gets the figures, or 204 if `version` is current."""
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    version = progress_version(project)
    if request.htmx and request.GET.get("version") == version:
        return HttpResponse(status=204)
    found = progress_of(project)
    context = {
        "version": version,
        "now": timezone.localtime(),
        "progress": found,
        "bars": daily_bars([(day.date, day.collected, day.imported) for day in found.days]),
        "pace_days": PACE_DAYS,
        "sees_names": Permission.MANAGE_PEOPLE in project.reader_may,
        "manages": Permission.MANAGE_PROJECT in project.reader_may,
    }
    template = (
        "annotation/progress/progress.html#figures" if request.htmx else "annotation/progress/progress.html"
    )
    return render(request, template, context)
