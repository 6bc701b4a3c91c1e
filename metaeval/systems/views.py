"""The systems page and its files."""

from functools import partial

from django.http import HttpResponse

from annotation.models import Project
from annotation.web.request_types import HtmxRequest
from metaeval.live.choices import ComparisonChoices
from metaeval.live.news import answer, download, results_view
from metaeval.systems.page import systems_page, whole_page


@results_view(ComparisonChoices)
def systems(request: HtmxRequest, project: Project, choices: ComparisonChoices) -> HttpResponse:
    return answer(request, project, "metaeval/systems.html", partial(systems_page, project, choices))


@results_view(ComparisonChoices)
def system_labels_csv(_request: HtmxRequest, project: Project, choices: ComparisonChoices) -> HttpResponse:
    """Download mean labels, with and without scores."""
    figures = whole_page(project, choices).mean_figures
    return download([each.as_json() for each in figures], f"{project.slug}-system-labels.csv")


@results_view(ComparisonChoices)
def system_scores_csv(_request: HtmxRequest, project: Project, choices: ComparisonChoices) -> HttpResponse:
    """Download mean labels and mean scores on the chosen dimension."""
    figures = whole_page(project, choices).score_figures
    return download([each.as_json() for each in figures], f"{project.slug}-system-scores.csv")
