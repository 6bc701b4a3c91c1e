"""The charts of the pages with results, as files."""

from collections.abc import Sequence

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotation.context import open_project
from annotation.permissions import Permission
from metaeval.agreement.page import agreement_page
from metaeval.card.page import CardChoices, card_now
from metaeval.choices import AgreementChoices, MetaevalChoices
from metaeval.export.chart import Chart
from metaeval.export.chart_files import CHART_FILES, file_name
from metaeval.metaeval_page import whole_page
from metaeval.snapshot import snapshot_of


@require_safe
def metaeval_figure(request: HttpRequest, slug: str, name: str, kind: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_RESULTS)
    page = whole_page(project, MetaevalChoices.read(request.GET))
    return chart_file(slug, page.charts, name, kind)


@require_safe
def agreement_figure(request: HttpRequest, slug: str, name: str, kind: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_RESULTS)
    page = agreement_page(snapshot_of(project), AgreementChoices.read(request.GET))
    return chart_file(slug, page.charts, name, kind)


@require_safe
def evaluator_card_figure(request: HttpRequest, slug: str, name: str, kind: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_RESULTS)
    page = card_now(project, CardChoices.read(request.GET), wait_s=None)
    return chart_file(slug, page.charts, name, kind)


def chart_file(slug: str, charts: Sequence[Chart], name: str, kind: str) -> HttpResponse:
    """The one of a page's charts as a file. Raises Http404 if there is none of that name or kind."""
    chart = next((each for each in charts if each.name == name), None)
    if chart is None or kind not in CHART_FILES:
        raise Http404(f"no figure {name}.{kind} for these choices")
    content_type, content = CHART_FILES[kind]
    response = HttpResponse(content(chart), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{file_name(slug, chart, kind)}"'
    return response
