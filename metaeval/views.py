"""The pages with results: agreement between raters, and evaluators against human labels.

Each page asks every 1.5 seconds for what has changed since the revision it shows; mostly the answer is 204.
"""

from collections.abc import Mapping

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.context import open_project
from annotation.models import Project
from annotation.permissions import Permission
from annotation.signed_in import SignedInRequest
from metaeval.agreement_page import agreement_page
from metaeval.agreement_report import agreement_rows
from metaeval.choices import AgreementChoices, MetaevalChoices
from metaeval.formats import as_csv
from metaeval.metaeval_page import Drawn, metaeval_page
from metaeval.metaeval_report import metaeval_rows
from metaeval.snapshot import snapshot_of


@login_required
@require_safe
def metaeval(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_RESULTS)
    if _shows(request, project):
        return HttpResponse(status=204)
    page = metaeval_page(snapshot_of(project), MetaevalChoices.read(request.GET))
    return _answer(request, "metaeval/metaeval.html", {"page": page})


@login_required
@require_safe
def metaeval_csv(request: HttpRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_RESULTS)
    choices = MetaevalChoices.read(request.GET)
    rows = metaeval_rows(
        project,
        level=choices.level,
        coefficient=choices.coefficient,
        language=choices.language,
        group=choices.group,
        evaluators=choices.only,
    )
    return _download(rows, f"{slug}-meta-evaluation.csv")


@login_required
@require_safe
def levels_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """The chosen evaluator and dimension at every level."""
    drawn = _drawn(request, slug)
    return _download(drawn.level_rows() if drawn else [], f"{slug}-levels.csv")


@login_required
@require_safe
def systems_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """The means of systems for the chosen evaluator and dimension."""
    drawn = _drawn(request, slug)
    return _download(drawn.system_rows() if drawn else [], f"{slug}-systems.csv")


@login_required
@require_safe
def agreement(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_RESULTS)
    if _shows(request, project):
        return HttpResponse(status=204)
    page = agreement_page(snapshot_of(project), AgreementChoices.read(request.GET))
    return _answer(request, "metaeval/agreement.html", {"page": page})


@login_required
@require_safe
def agreement_csv(request: HttpRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_RESULTS)
    choices = AgreementChoices.read(request.GET)
    rows = agreement_rows(project, group=choices.group, scale=choices.scale)
    return _download(rows, f"{slug}-agreement.csv")


def _drawn(request: HttpRequest, slug: str) -> Drawn | None:
    project = open_project(request, slug, Permission.SEE_RESULTS)
    return metaeval_page(snapshot_of(project), MetaevalChoices.read(request.GET)).drawn


def _shows(request: HttpRequest, project: Project) -> bool:
    """Whether this is the page asking for news, and there are none."""
    return request.GET.get("revision") == str(project.revision)


def _answer(request: SignedInRequest, template: str, context: Mapping[str, object]) -> HttpResponse:
    """The page, or for htmx its changing parts; going back in the history needs the page."""
    parts = bool(request.htmx) and not request.htmx.history_restore_request
    return render(request, f"{template}#changing" if parts else template, dict(context))


def _download(rows: list[dict[str, object]], name: str) -> HttpResponse:
    response = HttpResponse(as_csv(rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
