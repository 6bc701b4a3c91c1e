"""The export of decisions where raters disagree."""

import pytest

from annotation.adjudication.decisions import DecidedAnswer, decide_answers, withdraw_decision
from tests.annotation.exports.exporting_steps import csv_rows
from tests.factories import make_article, make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import rate

pytestmark = pytest.mark.django_db


def test_decisions_are_exported_with_their_history_and_without_names():
    project = make_project()
    first, second = (make_member(project, "manager") for _ in range(2))
    german = make_summary(project, article=make_article(project, language="de", dataset="mlsum"))
    english = make_summary(project)
    for summary in (german, english):
        rate(summary, make_rater(project), grammar="yes")
    assert csv_rows(project, "adjudications") == []
    decide_answers(project, first, german.pk, {"grammar": DecidedAnswer("no", "=HYPERLINK(1)")})
    decide_answers(project, second, german.pk, {"grammar": DecidedAnswer("unsure")})
    decide_answers(project, first, english.pk, {"grammar": DecidedAnswer("yes")})
    withdraw_decision(project, first, english.pk, "grammar")
    rows = csv_rows(project, "adjudications")
    assert [(row["language"], row["value"], row["adjudicator"], bool(row["ended_at"])) for row in rows] == [
        ("de", "no", "adjudicator-1", True),
        ("de", "unsure", "adjudicator-2", False),
        ("en", "yes", "adjudicator-1", True),
    ]
    assert rows[0]["note"] == "'=HYPERLINK(1)"
    assert (rows[0]["article_id"], rows[0]["question"], rows[0]["dataset"]) == (
        german.article.external_id,
        "grammar",
        "mlsum",
    )
    only = csv_rows(project, "adjudications", language="en")
    assert [row["adjudicator"] for row in only] == ["adjudicator-1"]
    for user in (first, second):
        assert user.get_username() not in str(rows)
