"""The answers page and its files."""

from django.http import Http404, HttpResponse

from annotation.models import Project
from annotation.web.request_types import HtmxRequest
from metaeval.answers.page import AnswersChoices, AnswersPage, answers_page, whole_page
from metaeval.live.news import answer, results_view, table_file
from metaeval.snapshot.snapshot import snapshot_of

TABLES = ("collected", "systems", "all_questions", "questions")


@results_view(AnswersChoices)
def answers(request: HtmxRequest, project: Project, choices: AnswersChoices) -> HttpResponse:
    return answer(
        request, project, "metaeval/answers/answers.html", lambda: answers_page(snapshot_of(project), choices)
    )


@results_view(AnswersChoices)
def answers_table(
    _request: HtmxRequest, project: Project, choices: AnswersChoices, name: str, kind: str
) -> HttpResponse:
    """Download one of TABLES as CSV, LaTeX or Markdown."""
    if name not in TABLES:
        raise Http404(f"no table is called {name}")
    return _table(project.slug, whole_page(snapshot_of(project), choices), name, kind)


def _table(slug: str, page: AnswersPage, name: str, kind: str) -> HttpResponse:
    file = f"{slug}-{name}"
    if name == "collected":
        rows = [row for each in page.collected for row in each.as_json()]
        return table_file(rows, file, kind, down="place", across=("what",), n="value", titles=page.titles)
    if name == "systems":
        means = [each.as_json() for each in page.means]
        return table_file(
            means, file, kind, down="system", across=("group",), n="labelled", titles=page.titles
        )
    if name == "all_questions":
        rows = [row for each in page.question_means for row in each.as_json()]
        return table_file(
            rows, file, kind, down="row", across=("question",), n="labelled", titles=page.titles
        )
    found = [each.as_json() for each in page.correlations]
    return table_file(
        found, file, kind, down="question", across=("other_question",), n="n", titles=page.titles
    )
