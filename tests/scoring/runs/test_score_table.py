"""The table of scores as CSV."""

import csv
import io

import pytest
from django.test import Client

from annotation.models import Project
from scoring.models import Run
from scoring.runs.planning import plan_run
from tests.annotation.rating.rating_steps import signed_in
from tests.factories import make_article, make_member, make_summary, make_system
from tests.scoring.claims import claimed, make_run, record
from tests.scoring.runs.test_views import address, without_a_score

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(project) -> Client:
    return signed_in(make_member(project, "researcher"))


def rows_of(client: Client, project: Project, run: Run) -> list[list[str]]:
    response = client.get(address("run_scores", project, run.pk))
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert "attachment" in response["Content-Disposition"]
    content = b"".join(response.streaming_content).decode()
    return list(csv.reader(io.StringIO(content)))


def test_table_has_every_score_and_reason(monkeypatch, project, researcher):
    run = make_run(monkeypatch, batches=2, size=1, project=project)
    first, second = claimed(run), claimed(run)
    record(first, value=0.1 + 0.2)
    without_a_score(second, "no reference")
    header, *rows = rows_of(researcher, project, run)
    assert header == ["id", "article_id", "system", "dimension", "value", "reason", "explanation"]
    article = project.summaries.get(pk=first.summary_ids[0]).article.external_id
    assert rows[0] == [f"{article}/system-a", article, "system-a", "general", "0.30000000000000004", "", ""]
    assert rows[1][4:] == ["", "no reference", ""]


def test_texts_cannot_act_as_formulas(project, researcher):
    article = make_article(project, external_id="=HYPERLINK(1)")
    make_summary(project, article=article, system=make_system(project, "@system"))
    run = plan_run(project, "length", {})
    record(claimed(run), value=-1.5)
    [_, row] = rows_of(researcher, project, run)
    assert row == ["'=HYPERLINK(1)/@system", "'=HYPERLINK(1)", "'@system", "general", "-1.5", "", ""]


def test_table_includes_scores_of_other_runs_of_the_setup(monkeypatch, project, researcher):
    first = make_run(monkeypatch, batches=1, project=project)
    record(claimed(first))
    again = plan_run(project, "length", {})
    assert again.total == 0
    assert len(rows_of(researcher, project, again)) == 3
