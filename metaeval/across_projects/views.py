"""The page of evaluators across projects, and its files."""

from functools import partial

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotation.permissions import Permission
from annotation.web.navigation import open_project
from annotation.web.request_types import HtmxRequest
from metaeval.across_projects.data_sets import AcrossChoices, chosen_projects, with_questions
from metaeval.across_projects.page import AcrossPage, page_now, waiting_keys
from metaeval.across_projects.report import MEAN
from metaeval.live.news import answer, chart_file, shows, table_file


@require_safe
def across_projects(request: HtmxRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    choices = AcrossChoices.read(request.GET)
    projects = chosen_projects(request.user, project, choices.other)
    revision = ".".join(str(each.revision) for each in projects)
    if shows(request, revision):  # before the projects' ratings are read
        return HttpResponse(status=204)
    chosen = with_questions(projects, choices.question)
    return answer(
        request,
        project,
        "metaeval/across_projects/across_projects.html",
        partial(page_now, request.user, chosen, choices),
        waiting_keys(chosen, choices),
        revision=revision,
    )


@require_safe
def across_projects_table(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """Download the figures as CSV, LaTeX or Markdown."""
    rows, name = _whole_page(request, slug).table.as_json(), f"{slug}-across-projects"
    return table_file(rows, name, kind, down="evaluator", across=("data_set",), n="n", titles={MEAN: "Mean"})


@require_safe
def across_projects_figure(request: HttpRequest, slug: str, name: str, kind: str) -> HttpResponse:
    return chart_file(slug, _whole_page(request, slug).charts, name, kind)


def _whole_page(request: HttpRequest, slug: str) -> AcrossPage:
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    choices = AcrossChoices.read(request.GET)
    chosen = with_questions(chosen_projects(request.user, project, choices.other), choices.question)
    return page_now(request.user, chosen, choices, wait_s=None)
