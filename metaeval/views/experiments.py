"""The page of an experiment, what moves on it, and its tables and charts as files."""

from collections.abc import Callable

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.context import open_project
from annotation.permissions import Permission
from annotation.signed_in import HtmxRequest
from metaeval.experiments.choices import ExperimentChoices
from metaeval.experiments.figures import figure_rows
from metaeval.experiments.page import Results, page_now, waiting_keys, whole_page
from metaeval.export.chart import Rows
from metaeval.export.how_computed import how_computed
from metaeval.views.answers import answer, download, shows, stamp, table_file
from metaeval.views.figures import chart_file
from scoring.families.following import families_of, family_of

TABLES: dict[str, Callable[[Results], Rows]] = {
    "spread": lambda results: [each.spread_as_json() for each in results.questions],
    "pairs": lambda results: results.significance.as_json() if results.significance else [],
    "wins": lambda results: results.wins.as_json() if results.wins else [],
    "systems": lambda results: results.systems.as_json(),
}


@never_cache
@login_required
@require_safe
def experiments(request: HttpRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    return render(request, "metaeval/experiments.html", {"families": families_of(project)})


@login_required
@require_safe
def experiment(request: HtmxRequest, slug: str, family_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    followed = family_of(project, family_id)
    choices = ExperimentChoices.read(request.GET)
    if shows(request, project, waiting_keys(project, followed, choices)):
        return HttpResponse(status=204)
    page = page_now(project, followed, choices)
    how = how_computed(page, project, timezone.localdate()) if page.results else ""
    shown = {"page": page, "stamp": stamp(page.snapshot.revision, waits=page.waits), "how": how}
    return answer(request, "metaeval/experiment.html", {**shown, "followed": followed})


@never_cache
@login_required
@require_safe
def experiment_members(request: HttpRequest, slug: str, family_id: int) -> HttpResponse:
    """How far the runs are: a part of the page, which asks for it as long as one is under way."""
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    return render(request, "metaeval/_members.html", {"followed": family_of(project, family_id)})


@login_required
@require_safe
def experiment_table(request: HttpRequest, slug: str, family_id: int, kind: str) -> HttpResponse:
    """The figures as CSV, LaTeX or Markdown."""
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    page = whole_page(project, family_of(project, family_id), ExperimentChoices.read(request.GET))
    questions = page.results.questions if page.results else ()
    return table_file(
        figure_rows(questions),
        f"{slug}-experiment-{family_id}",
        kind,
        down="member",
        across=("dimension",),
        n="n",
        titles={each.labels.dimension: each.labels.title for each in questions},
    )


@login_required
@require_safe
def experiment_csv(request: HttpRequest, slug: str, family_id: int, name: str) -> HttpResponse:
    """What stands beside the figures: spread of seeds, pairs of members, wins in subsamples, or systems."""
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    followed = family_of(project, family_id)
    if name not in TABLES:
        raise Http404(f"no table {name}.csv")
    results = whole_page(project, followed, ExperimentChoices.read(request.GET)).results
    return download(TABLES[name](results) if results else [], f"{slug}-experiment-{family_id}-{name}.csv")


@login_required
@require_safe
def experiment_figure(request: HttpRequest, slug: str, family_id: int, name: str, kind: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_PROGRESS)
    page = whole_page(project, family_of(project, family_id), ExperimentChoices.read(request.GET))
    return chart_file(slug, page.charts, name, kind)
