"""The evaluator card and its files."""

from functools import partial

from django.http import HttpResponse

from annotation.models import Project
from annotation.web.request_types import HtmxRequest
from metaeval.card.page import card_now, keys_of, whole_card
from metaeval.live.choices import PairChoices
from metaeval.live.news import answer, chart_file, download, results_view


@results_view(PairChoices)
def evaluator_card(request: HtmxRequest, project: Project, choices: PairChoices) -> HttpResponse:
    waits_for = keys_of(project, project.revision, choices)
    return answer(request, project, "metaeval/card.html", partial(card_now, project, choices), waits_for)


@results_view(PairChoices)
def evaluator_card_table(_request: HtmxRequest, project: Project, choices: PairChoices) -> HttpResponse:
    """Download all numbers of the card."""
    return download(whole_card(project, choices).rows, f"{project.slug}-evaluator-card.csv")


@results_view(PairChoices)
def evaluator_card_figure(
    _request: HtmxRequest, project: Project, choices: PairChoices, name: str, kind: str
) -> HttpResponse:
    return chart_file(project.slug, whole_card(project, choices).charts, name, kind)
