"""The agreement page and its files."""

from dataclasses import replace
from functools import partial

from django.http import HttpResponse

from annotation.models import Project
from annotation.web.request_types import HtmxRequest
from metaeval.agreement.method import BY_WEEK, AgreementMethod
from metaeval.agreement.page import AgreementPage, agreement_page, agreement_titles
from metaeval.agreement.parts import SECOND_PER_WEEK, summaries_by
from metaeval.agreement.report import AgreementFigure, project_agreement
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
    figures = project_agreement(
        replace(snapshot, summaries=in_parts), language="", group=choices.group, method=method
    )
    return table_file(
        [_row(each, choices.by) for each in figures],
        f"{project.slug}-agreement",
        kind,
        down="question",
        across=(choices.by, "statistic"),
        n="units",
        titles=agreement_titles(snapshot, in_parts, choices.by),
    )


def _row(figure: AgreementFigure, by: str) -> dict[str, object]:
    """Return the row of a file, in which the name of a column says what the parts are."""
    row = {by if name == "language" else name: value for name, value in figure.as_json().items()}
    return row | {"definition": f"{figure.definition} {SECOND_PER_WEEK}"} if by == BY_WEEK else row


@results_view(AgreementChoices)
def agreement_figure(
    _request: HtmxRequest, project: Project, choices: AgreementChoices, name: str, kind: str
) -> HttpResponse:
    return chart_file(project.slug, _page(project, choices).charts, name, kind)
