"""The pages of experiments and their files."""

from collections.abc import Callable
from functools import partial

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.permissions import Permission
from annotation.web.navigation import open_project
from annotation.web.request_types import HtmxRequest
from metaeval.experiments.figures import figure_rows
from metaeval.experiments.following import experiment_of, experiments_of
from metaeval.experiments.page import ExperimentChoices, Results, page_now, waiting_keys, whole_page
from metaeval.export.chart import FileRows
from metaeval.live.news import answer, chart_file, download, table_file

TABLES: dict[str, Callable[[Results], FileRows]] = {
    "spread": lambda results: [each.spread_as_json() for each in results.questions],
    "pairs": lambda results: results.significance.as_json() if results.significance else [],
    "wins": lambda results: results.wins.as_json() if results.wins else [],
    "systems": lambda results: results.systems.as_json(),
}


@require_safe
def experiments(request: HttpRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    return render(request, "metaeval/experiments/experiments.html", {"experiments": experiments_of(project)})


@require_safe
def experiment(request: HtmxRequest, slug: str, experiment_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    followed = experiment_of(project, experiment_id)
    choices = ExperimentChoices.read(request.GET)
    page = partial(page_now, project, followed, choices)
    keys = waiting_keys(project, followed, choices)
    return answer(request, project, "metaeval/experiments/experiment.html", page, keys, followed=followed)


@require_safe
def experiment_members(request: HttpRequest, slug: str, experiment_id: int) -> HttpResponse:
    """Show the progress of the runs; the page polls this part."""
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    return render(
        request, "metaeval/experiments/_members.html", {"followed": experiment_of(project, experiment_id)}
    )


@require_safe
def experiment_table(request: HttpRequest, slug: str, experiment_id: int, kind: str) -> HttpResponse:
    """Download the figures as CSV, LaTeX or Markdown."""
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    page = whole_page(project, experiment_of(project, experiment_id), ExperimentChoices.read(request.GET))
    questions = page.results.questions if page.results else ()
    return table_file(
        figure_rows(questions),
        f"{slug}-experiment-{experiment_id}",
        kind,
        down="member",
        across=("dimension",),
        n="n",
        titles={each.labels.dimension: each.labels.title for each in questions},
    )


@require_safe
def experiment_csv(request: HttpRequest, slug: str, experiment_id: int, name: str) -> HttpResponse:
    """Download one of TABLES: spread over seeds, pairs of members, wins or systems."""
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    followed = experiment_of(project, experiment_id)
    if name not in TABLES:
        raise Http404(f"no table {name}.csv")
    results = whole_page(project, followed, ExperimentChoices.read(request.GET)).results
    return download(TABLES[name](results) if results else [], f"{slug}-experiment-{experiment_id}-{name}.csv")


@require_safe
def experiment_figure(
    request: HttpRequest, slug: str, experiment_id: int, name: str, kind: str
) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    page = whole_page(project, experiment_of(project, experiment_id), ExperimentChoices.read(request.GET))
    return chart_file(slug, page.charts, name, kind)
