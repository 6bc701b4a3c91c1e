"""The agreement page and its table as a file."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.context import open_project
from annotation.permissions import Permission
from annotation.signed_in import HtmxRequest
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.page import agreement_page, agreement_titles
from metaeval.agreement.report import agreement_rows
from metaeval.choices import AgreementChoices
from metaeval.export.how_computed import methods_text
from metaeval.snapshot import snapshot_of
from metaeval.views.answers import answer, shows, stamp, table_file


@require_safe
def agreement(request: HtmxRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_RESULTS)
    if shows(request, project):
        return HttpResponse(status=204)
    page = agreement_page(snapshot_of(project), AgreementChoices.read(request.GET))
    how = methods_text(project, page.snapshot, page.definitions, timezone.localdate())
    shown = {"page": page, "stamp": stamp(page.snapshot.revision), "how": how}
    return answer(request, "metaeval/agreement.html", shown)


@require_safe
def agreement_table(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The figures as CSV, LaTeX or Markdown."""
    project = open_project(request, slug, Permission.SEE_RESULTS)
    choices = AgreementChoices.read(request.GET)
    rows = agreement_rows(
        project, group=choices.group, method=AgreementMethod(choices.scale, choices.interval)
    )
    return table_file(
        rows,
        f"{slug}-agreement",
        kind,
        down="question",
        across=("language", "statistic"),
        n="units",
        titles=agreement_titles(snapshot_of(project)),
    )
