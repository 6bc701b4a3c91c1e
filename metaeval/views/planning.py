"""The planning page and its tables as a file."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.context import open_project
from annotation.permissions import Permission
from annotation.signed_in import HtmxRequest
from metaeval.export.how_computed import methods_text
from metaeval.planning_page import PlanningChoices, planning_key, planning_page
from metaeval.views.answers import answer, download, shows, stamp


@require_safe
def planning(request: HtmxRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_RESULTS)
    choices = PlanningChoices.read(request.GET)
    if shows(request, project, [planning_key(project, project.revision, choices)]):
        return HttpResponse(status=204)
    page = planning_page(project, choices)
    waits = stamp(page.snapshot.revision, waits=page.plans is None)
    how = methods_text(project, page.snapshot, page.definitions, timezone.localdate())
    return answer(request, "metaeval/planning.html", {"page": page, "stamp": waits, "how": how})


@require_safe
def planning_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Both tables."""
    project = open_project(request, slug, Permission.SEE_RESULTS)
    plans = planning_page(project, PlanningChoices.read(request.GET), wait_s=None).plans
    return download(plans.rows() if plans else [], f"{slug}-planning.csv")
