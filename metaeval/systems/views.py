"""The systems page and its files."""

from collections.abc import Sequence
from functools import partial

from django.http import Http404, HttpResponse

from annotation.models import Project
from annotation.web.request_types import HtmxRequest
from metaeval.live.choices import ComparisonChoices
from metaeval.live.news import answer, results_view, table_file
from metaeval.systems.page import systems_page, whole_page
from metaeval.systems.report import SystemFigure


@results_view(ComparisonChoices)
def systems(request: HtmxRequest, project: Project, choices: ComparisonChoices) -> HttpResponse:
    return answer(request, project, "metaeval/systems.html", partial(systems_page, project, choices))


@results_view(ComparisonChoices)
def systems_table(
    _request: HtmxRequest, project: Project, choices: ComparisonChoices, name: str, kind: str
) -> HttpResponse:
    """Download mean labels, with and without scores, or mean scores: as CSV, LaTeX or Markdown."""
    page = whole_page(project, choices)
    tables: dict[str, tuple[Sequence[SystemFigure], Sequence[str]]] = {
        "labels": (page.mean_figures, ("dimension", "evaluator")),
        "scores": (page.score_figures, ("evaluator",)),
    }
    if name not in tables:
        raise Http404(f"no table is called {name}")
    figures, across = tables[name]
    return table_file(
        [each.as_json() for each in figures],
        f"{project.slug}-system-{name}",
        kind,
        down="system",
        across=across,
        n="labelled",
        titles=page.titles,
    )
