"""The agreement page and its files."""

from django.http import HttpResponse

from annotation.models import Project
from annotation.web.request_types import HtmxRequest
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.page import agreement_page, agreement_titles
from metaeval.agreement.report import agreement_rows
from metaeval.live.choices import AgreementChoices
from metaeval.live.news import answer, chart_file, results_view, table_file
from metaeval.snapshot.snapshot import snapshot_of


@results_view(AgreementChoices)
def agreement(request: HtmxRequest, project: Project, choices: AgreementChoices) -> HttpResponse:
    return answer(
        request,
        project,
        "metaeval/agreement/agreement.html",
        lambda: agreement_page(snapshot_of(project), choices),
    )


@results_view(AgreementChoices)
def agreement_table(
    _request: HtmxRequest, project: Project, choices: AgreementChoices, kind: str
) -> HttpResponse:
    """Download the figures as CSV, LaTeX or Markdown."""
    method = AgreementMethod(choices.scale, choices.interval)
    return table_file(
        agreement_rows(project, group=choices.group, method=method),
        f"{project.slug}-agreement",
        kind,
        down="question",
        across=("language", "statistic"),
        n="units",
        titles=agreement_titles(snapshot_of(project)),
    )


@results_view(AgreementChoices)
def agreement_figure(
    _request: HtmxRequest, project: Project, choices: AgreementChoices, name: str, kind: str
) -> HttpResponse:
    return chart_file(project.slug, agreement_page(snapshot_of(project), choices).charts, name, kind)
