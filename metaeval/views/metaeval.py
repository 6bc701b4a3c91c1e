"""The meta-evaluation page and its tables as files."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.context import open_project
from annotation.permissions import Permission
from annotation.signed_in import HtmxRequest
from metaeval.choices import MetaevalChoices
from metaeval.export.how_computed import how_computed
from metaeval.metaeval_page import level_rows, page_now, system_rows, whole_page
from metaeval.metaeval_report import metaeval_rows
from metaeval.page_background import levels_key, uncertainties_key
from metaeval.snapshot import snapshot_of
from metaeval.views.answers import answer, download, shows, stamp, table_file


@require_safe
def metaeval(request: HtmxRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_RESULTS)
    choices = MetaevalChoices.read(request.GET)
    keys = [key(project, project.revision, choices) for key in (uncertainties_key, levels_key)]
    if shows(request, project, keys):
        return HttpResponse(status=204)
    page = page_now(project, choices)
    waits = stamp(page.snapshot.revision, waits=page.waits)
    how = how_computed(page, project, timezone.localdate())
    return answer(request, "metaeval/metaeval.html", {"page": page, "stamp": waits, "how": how})


@require_safe
def metaeval_table(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The figures as CSV, LaTeX or Markdown."""
    project = open_project(request, slug, Permission.SEE_RESULTS)
    choices = MetaevalChoices.read(request.GET)
    rows = metaeval_rows(project, choices, choices.method)
    questions = (ratings.question for ratings in snapshot_of(project).human.questions)
    return table_file(
        rows,
        f"{slug}-meta-evaluation",
        kind,
        down="evaluator",
        across=("dimension",),
        n="n",
        titles={question.dimension: question.title for question in questions},
    )


@require_safe
def significance_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Every pair of evaluators on the chosen dimension."""
    project = open_project(request, slug, Permission.SEE_RESULTS)
    pairs = whole_page(project, MetaevalChoices.read(request.GET)).significance
    return download(pairs.as_json() if pairs else [], f"{slug}-significance.csv")


@require_safe
def metaeval_how(request: HttpRequest, slug: str) -> HttpResponse:
    """How the figures were computed, as plain text with a BibTeX list."""
    project = open_project(request, slug, Permission.SEE_RESULTS)
    page = whole_page(project, MetaevalChoices.read(request.GET))
    text = how_computed(page, project, timezone.localdate())
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-how-computed.txt"'
    return response


@require_safe
def levels_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """The chosen evaluator and dimension at every level."""
    project = open_project(request, slug, Permission.SEE_RESULTS)
    return download(level_rows(project, MetaevalChoices.read(request.GET)), f"{slug}-levels.csv")


@require_safe
def systems_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """The means of systems for the chosen evaluator and dimension."""
    project = open_project(request, slug, Permission.SEE_RESULTS)
    return download(system_rows(project, MetaevalChoices.read(request.GET)), f"{slug}-systems.csv")
