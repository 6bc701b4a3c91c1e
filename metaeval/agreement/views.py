"""The agreement page and its files."""

from functools import partial

from django.http import HttpResponse

from annotation.models import Project
from annotation.web.request_types import HtmxRequest
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.page import AgreementPage, agreement_page, agreement_titles
from metaeval.agreement.parts import summaries_by
from metaeval.agreement.report import agreement_rows
from metaeval.live.choices import AgreementChoices
from metaeval.live.news import answer, chart_file, results_view, table_file
from metaeval.snapshot.snapshot import snapshot_of


def _page(project: Project, choices: AgreementChoices) -> AgreementPage:
    snapshot = snapshot_of(project)
    return agreement_page(snapshot, choices, summaries_by(project, snapshot, choices.by))


@results_view(AgreementChoices)
def agreement(request: HtmxRequest, project: Project, choices: AgreementChoices) -> HttpResponse:
    return answer(
        request,
        project,
        "metaeval/agreement/agreement.html",
        partial(_page, project, choices),
    )


@results_view(AgreementChoices)
def agreement_table(
    _request: HtmxRequest, project: Project, choices: AgreementChoices, kind: str
) -> HttpResponse:
    """Download the figures as CSV, LaTeX or Markdown."""
    method = AgreementMethod(choices.scale, choices.interval)
    snapshot = snapshot_of(project)
    in_parts = summaries_by(project, snapshot, choices.by)
    return table_file(
        agreement_rows(project, snapshot, by=choices.by, group=choices.group, method=method),
        f"{project.slug}-agreement",
        kind,
        down="question",
        across=(choices.by, "statistic"),
        n="units",
        titles=agreement_titles(snapshot, in_parts, choices.by),
    )


@results_view(AgreementChoices)
def agreement_figure(
    _request: HtmxRequest, project: Project, choices: AgreementChoices, name: str, kind: str
) -> HttpResponse:
    return chart_file(project.slug, _page(project, choices).charts, name, kind)
