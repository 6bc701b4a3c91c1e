"""The list of trainings and learning curves; the page of a learning curve and its files."""

from collections.abc import Callable
from functools import partial

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.permissions import Permission
from annotation.web.navigation import open_project
from annotation.web.request_types import HtmxRequest
from metaeval.export.chart import FileRows
from metaeval.learning_curves.following import curve_of, curves_of
from metaeval.learning_curves.material import CurveChoices
from metaeval.learning_curves.page import CurvePage, page_now, waiting_keys, whole_page
from metaeval.learning_curves.report import CurveFigures
from metaeval.live.news import answer, chart_file, download, table_file
from metaeval.training.page import run_address
from scoring.models import Training
from scoring.training.registry import models_of, registrations_of

TABLES: dict[str, Callable[[CurveFigures], FileRows]] = {
    "differences": CurveFigures.difference_rows,
    "models": CurveFigures.model_rows,
}


@require_safe
def trainings(request: HtmxRequest, slug: str) -> HttpResponse:
    """List trainings, learning curves and models; for htmx, which polls, no models.

    Trainings and models of learning curves are on their pages.
    """
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    every = Training.objects.filter(project=project)
    found = list(every.filter(curve_model=None).select_related("created_by").defer("pool"))
    curves = curves_of(project)
    of_curves = set(every.exclude(curve_model=None).values_list("name", flat=True))
    models = [] if request.htmx else [each for each in models_of(project) if each.name not in of_curves]
    context = {
        "trainings": found,
        "curves": curves,
        "any_unfinished": any(each.status in Training.UNFINISHED for each in found)
        or any(each.n_unfinished for each in curves),
        "models": [(each, run_address(slug, each)) for each in models],
        "registrations": [] if request.htmx else registrations_of(project),
    }
    template = (
        "metaeval/learning_curves/trainings.html#trainings"
        if request.htmx
        else "metaeval/learning_curves/trainings.html"
    )
    return render(request, template, context)


@require_safe
def learning_curve(request: HtmxRequest, slug: str, curve_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    followed = curve_of(project, curve_id)
    choices = CurveChoices.read(request.GET)
    page = partial(page_now, project, followed, choices)
    keys = waiting_keys(project, followed, choices)
    return answer(
        request, project, "metaeval/learning_curves/learning_curve.html", page, keys, followed=followed
    )


@require_safe
def learning_curve_models(request: HttpRequest, slug: str, curve_id: int) -> HttpResponse:
    """Show the progress of trainings and runs; the page polls this part."""
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    return render(request, "metaeval/learning_curves/_models.html", {"followed": curve_of(project, curve_id)})


@require_safe
def learning_curve_table(request: HttpRequest, slug: str, curve_id: int, kind: str) -> HttpResponse:
    """Download the figures as CSV, LaTeX or Markdown."""
    page = _whole(request, slug, curve_id)
    figures = page.figures or ()
    return table_file(
        [row for each in figures for row in each.rows()],
        f"{slug}-learning-curve-{curve_id}",
        kind,
        down="name",
        across=("dimension",),
        n="n",
        titles={each.labels.dimension: each.labels.title for each in figures},
    )


@require_safe
def learning_curve_csv(request: HttpRequest, slug: str, curve_id: int, name: str) -> HttpResponse:
    """Download one of TABLES: differences from the comparators, or single models."""
    page = _whole(request, slug, curve_id)
    if name not in TABLES:
        raise Http404(f"no table {name}.csv")
    rows = [row for each in page.figures or () for row in TABLES[name](each)]
    return download(rows, f"{slug}-learning-curve-{curve_id}-{name}.csv")


@require_safe
def learning_curve_figure(
    request: HttpRequest, slug: str, curve_id: int, name: str, kind: str
) -> HttpResponse:
    return chart_file(slug, _whole(request, slug, curve_id).charts, name, kind)


def _whole(request: HttpRequest, slug: str, curve_id: int) -> CurvePage:
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    return whole_page(project, curve_of(project, curve_id), CurveChoices.read(request.GET))
