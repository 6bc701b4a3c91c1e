"""The systems page and its tables as files."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.context import open_project
from annotation.permissions import Permission
from annotation.signed_in import HtmxRequest
from metaeval.choices import MetaevalChoices
from metaeval.export.how_computed import methods_text
from metaeval.systems_page import mean_rows, score_rows, systems_page
from metaeval.views.answers import answer, download, shows, stamp


@require_safe
def systems(request: HtmxRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_RESULTS)
    if shows(request, project):
        return HttpResponse(status=204)
    page = systems_page(project, MetaevalChoices.read(request.GET))
    how = methods_text(project, page.snapshot, page.definitions, timezone.localdate())
    shown = {"page": page, "stamp": stamp(page.snapshot.revision), "how": how}
    return answer(request, "metaeval/systems.html", shown)


@require_safe
def system_labels_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Mean labels, alone and helped by scores."""
    project = open_project(request, slug, Permission.SEE_RESULTS)
    return download(mean_rows(project, MetaevalChoices.read(request.GET)), f"{slug}-system-labels.csv")


@require_safe
def system_scores_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Mean labels and mean scores on the chosen dimension."""
    project = open_project(request, slug, Permission.SEE_RESULTS)
    return download(score_rows(project, MetaevalChoices.read(request.GET)), f"{slug}-system-scores.csv")
