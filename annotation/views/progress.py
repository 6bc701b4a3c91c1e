"""A project's progress, live."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.charts import daily_bars
from annotation.context import open_project
from annotation.permissions import Permission, permissions_of
from annotation.progress import PACE_DAYS, progress_of, progress_version
from annotation.signed_in import SignedInRequest


@never_cache
@login_required
@require_safe
def progress(request: SignedInRequest, slug: str) -> HttpResponse:
    """The page, and for its own polling the figures that changed: 204 while `version` is the present one."""
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    version = progress_version(project)
    if request.htmx and request.GET.get("version") == version:
        return HttpResponse(status=204)
    found = progress_of(project)
    allowed = permissions_of(request.user, project)
    context = {
        "version": version,
        "now": timezone.localtime(),
        "progress": found,
        "bars": daily_bars([(day.date, day.here, day.imported) for day in found.days]),
        "pace_days": PACE_DAYS,
        "sees_names": Permission.MANAGE_PEOPLE in allowed,
        "manages": Permission.MANAGE_PROJECT in allowed,
    }
    template = "annotation/progress.html#figures" if request.htmx else "annotation/progress.html"
    return render(request, template, context)
