"""The planning page and its file."""

from functools import partial

from django.http import HttpResponse

from annotation.models import Project
from annotation.web.request_types import HtmxRequest
from metaeval.live.background import Key
from metaeval.live.news import answer, download, results_view
from metaeval.planning.page import PlanningChoices, planning_page


@results_view(PlanningChoices)
def planning(request: HtmxRequest, project: Project, choices: PlanningChoices) -> HttpResponse:
    waits_for = [Key.of(project, project.revision, choices)]
    page = partial(planning_page, project, choices)
    return answer(request, project, "metaeval/planning.html", page, waits_for)


@results_view(PlanningChoices)
def planning_csv(_request: HtmxRequest, project: Project, choices: PlanningChoices) -> HttpResponse:
    """Download both tables."""
    plans = planning_page(project, choices, wait_s=None).plans
    return download(plans.rows() if plans else [], f"{project.slug}-planning.csv")
