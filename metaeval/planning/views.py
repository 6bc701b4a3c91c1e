"""The planning page and its files."""

from functools import partial

from django.http import HttpResponse

from annotation.models import Project
from annotation.web.request_types import HtmxRequest
from metaeval.live.background import Key
from metaeval.live.news import answer, results_view, table_file
from metaeval.planning.page import PlanningChoices, planning_page


@results_view(PlanningChoices)
def planning(request: HtmxRequest, project: Project, choices: PlanningChoices) -> HttpResponse:
    waits_for = [Key.of(project, project.revision, choices)]
    page = partial(planning_page, project, choices)
    return answer(request, project, "metaeval/planning.html", page, waits_for)


@results_view(PlanningChoices)
def planning_table(
    _request: HtmxRequest, project: Project, choices: PlanningChoices, kind: str
) -> HttpResponse:
    """Download both tables as CSV, LaTeX or Markdown."""
    page = planning_page(project, choices, wait_s=None)
    questions = (each.question for each in page.snapshot.human.questions)
    return table_file(
        page.plans.rows() if page.plans else [],
        f"{project.slug}-planning",
        kind,
        by="table",
        down="dimension",
        across=("what",),
        n="summaries",
        titles={question.dimension: question.title for question in questions},
        cells=page.plans.cells() if page.plans else [],
    )
