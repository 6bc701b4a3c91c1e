"""The comparison page and its files."""

from functools import partial

from django.http import HttpResponse
from django.utils import timezone

from annotation.models import Project
from annotation.web.request_types import HtmxRequest
from metaeval.comparison.page import figure_rows, level_rows, page_now, system_rows, whole_page
from metaeval.comparison.pending import apart_key, levels_key, uncertainties_key
from metaeval.comparison.timeline import timeline_page
from metaeval.live.background import Key
from metaeval.live.choices import ComparisonChoices
from metaeval.live.how_computed import how_computed
from metaeval.live.news import answer, attachment, chart_file, download, results_view, table_file
from metaeval.snapshot.snapshot import snapshot_of


@results_view(ComparisonChoices)
def comparison(request: HtmxRequest, project: Project, choices: ComparisonChoices) -> HttpResponse:
    keys = [key(project, project.revision, choices) for key in (uncertainties_key, apart_key, levels_key)]
    return answer(
        request, project, "metaeval/comparison/comparison.html", partial(page_now, project, choices), keys
    )


@results_view(ComparisonChoices)
def comparison_table(
    _request: HtmxRequest, project: Project, choices: ComparisonChoices, kind: str
) -> HttpResponse:
    """Download the figures as CSV, LaTeX or Markdown."""
    questions = (ratings.question for ratings in snapshot_of(project).human.questions)
    return table_file(
        figure_rows(project, choices),
        f"{project.slug}-comparison",
        kind,
        down="evaluator",
        across=("dimension",),
        n="n",
        titles={question.dimension: question.title for question in questions},
    )


@results_view(ComparisonChoices)
def significance_csv(_request: HtmxRequest, project: Project, choices: ComparisonChoices) -> HttpResponse:
    """Download every pair of evaluators on the chosen dimension."""
    pairs = whole_page(project, choices).significance
    return download(pairs.as_json() if pairs else [], f"{project.slug}-significance.csv")


@results_view(ComparisonChoices)
def comparison_methods(_request: HtmxRequest, project: Project, choices: ComparisonChoices) -> HttpResponse:
    """Download how the figures were computed, as plain text with a BibTeX list."""
    text = how_computed(whole_page(project, choices), project, timezone.localdate())
    return attachment(text, f"{project.slug}-how-computed.txt", "text/plain; charset=utf-8")


@results_view(ComparisonChoices)
def levels_csv(_request: HtmxRequest, project: Project, choices: ComparisonChoices) -> HttpResponse:
    """Download the chosen cell by every coefficient at every level."""
    return download(level_rows(project, choices), f"{project.slug}-levels.csv")


@results_view(ComparisonChoices)
def systems_csv(_request: HtmxRequest, project: Project, choices: ComparisonChoices) -> HttpResponse:
    """Download the means of systems for the chosen cell."""
    return download(system_rows(project, choices), f"{project.slug}-systems.csv")


@results_view(ComparisonChoices)
def timeline(request: HtmxRequest, project: Project, choices: ComparisonChoices) -> HttpResponse:
    """Show the chosen cell as it stood at earlier looks."""
    keys = [Key.of(project, project.revision, "timeline", choices)]
    return answer(
        request, project, "metaeval/comparison/timeline.html", partial(timeline_page, project, choices), keys
    )


@results_view(ComparisonChoices)
def timeline_figure(
    _request: HtmxRequest, project: Project, choices: ComparisonChoices, name: str, kind: str
) -> HttpResponse:
    charts = timeline_page(project, choices, wait_s=None).charts
    return chart_file(project.slug, charts, name, kind)


@results_view(ComparisonChoices)
def comparison_figure(
    _request: HtmxRequest, project: Project, choices: ComparisonChoices, name: str, kind: str
) -> HttpResponse:
    return chart_file(project.slug, whole_page(project, choices).charts, name, kind)
