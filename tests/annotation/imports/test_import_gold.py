"""The database after an import of gold."""

import pytest

from annotation.models import (
    GoldRating,
)
from annotation.rating.assigning import take_assignment
from tests.annotation.imports.importing_steps import load, new_counts, row_counts
from tests.factories import make_article, make_rater, make_summary, make_system
from tests.import_files import jsonl

pytestmark = pytest.mark.django_db


def gold_row(**changes):
    answers = {"comprehensibility": {"value": "no", "explanation": "Word salad."}}
    row = {
        "article_id": "g",
        "language": "en",
        "title": "T",
        "article": "Long.",
        "system": "x",
        "summary": "S.",
    }
    return row | {"answers": answers} | changes


def test_gold_is_kept_apart_from_production(project, tmp_path):
    path = jsonl(tmp_path / "g.jsonl", gold_row())
    assert new_counts(load(project, "gold", path))["gold"] == 1
    gold = GoldRating.objects.get()
    assert [(a.value, a.explanation) for a in gold.answers.all()] == [("no", "Word salad.")]
    assert (gold.summary.ratings_wanted, gold.summary.open_places) == (0, 0)
    assert take_assignment(make_rater(project)) is None
    assert not load(project, "gold", path).has_news


def test_a_summary_in_production_can_become_gold(project, tmp_path):
    summary = make_summary(
        project,
        article=make_article(project, external_id="g", title="", text="Long."),
        system=make_system(project, "x"),
        text="S.",
    )
    report = load(project, "gold", jsonl(tmp_path / "g.jsonl", gold_row()))
    assert report.counts["articles"].filled == 1
    summary.refresh_from_db()
    assert summary.open_places == 0


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"answers": {}}, "comprehensibility"),
        ({"answers": {"comprehensibility": {"value": "yes", "explanation": "x"}}}, "repetition"),
        (
            {"answers": {"comprehensibility": {"value": "perhaps", "explanation": "x"}}},
            "answers.comprehensibility.value",
        ),
        ({"answers": {"quality": {"value": "yes", "explanation": "x"}}}, "answers.quality.value"),
        ({"answers": {"comprehensibility": {"value": "no", "explanation": "x" * 2001}}}, "explanation"),
        ({"article": ""}, "article"),
    ],
)
def test_gold_with_invalid_answers_or_no_article_text_is_refused(project, tmp_path, changes, field):
    report = load(project, "gold", jsonl(tmp_path / "g.jsonl", gold_row(article_id="h"), gold_row(**changes)))
    assert {problem.line for problem in report.problems} == {2}
    assert field in {problem.field for problem in report.problems}
    assert row_counts(project) == (0,) * 7


def test_different_answers_for_stored_gold_are_refused(project, tmp_path):
    load(project, "gold", jsonl(tmp_path / "g.jsonl", gold_row()))
    other = {"comprehensibility": {"value": "no", "explanation": "Another reason."}}
    report = load(project, "gold", jsonl(tmp_path / "g.jsonl", gold_row(answers=other)))
    assert [(problem.line, problem.field) for problem in report.problems] == [(1, "answers")]
