"""The evaluator card and its files."""

from functools import partial

from django.http import HttpResponse

from annotation.models import Project
from annotation.web.request_types import HtmxRequest
from metaeval.card.page import card_now, keys_of, whole_card
from metaeval.card.rows import card_cells
from metaeval.live.choices import PairChoices
from metaeval.live.news import answer, chart_file, results_view, table_file


@results_view(PairChoices)
def evaluator_card(request: HtmxRequest, project: Project, choices: PairChoices) -> HttpResponse:
    waits_for = keys_of(project, project.revision, choices)
    return answer(request, project, "metaeval/card/card.html", partial(card_now, project, choices), waits_for)


@results_view(PairChoices)
def evaluator_card_table(
    _request: HtmxRequest, project: Project, choices: PairChoices, kind: str
) -> HttpResponse:
    """Download all numbers of the card as CSV, LaTeX or Markdown."""
    page = whole_card(project, choices)
    return table_file(
        page.rows,
        f"{project.slug}-evaluator-card",
        kind,
        by="section",
        down="measure",
        across=("what",),
        n="n",
        cells=list(card_cells(page.rows, page.title)),
    )


@results_view(PairChoices)
def evaluator_card_figure(
    _request: HtmxRequest, project: Project, choices: PairChoices, name: str, kind: str
) -> HttpResponse:
    return chart_file(project.slug, whole_card(project, choices).charts, name, kind)
