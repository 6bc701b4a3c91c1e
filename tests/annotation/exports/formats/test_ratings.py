import pytest

from annotation.models import Rater
from annotation.people.members import remove_rater
from annotation.protocol import SEAHORSE
from annotation.rating.assigning import take_assignment
from annotation.rating.submitting import GivenAnswer, correct_answer
from tests.annotation.exports.exporting_steps import csv_rows, exported, json_rows, rate
from tests.annotation.rating.rating_steps import submit_stage
from tests.factories import make_article, make_rater, make_summary

pytestmark = pytest.mark.django_db


def rate_here(rater):
    """Let the rater answer all stages with yes."""
    assignment = take_assignment(rater)
    for stage in (1, 2, 3):
        submit_stage(
            rater, assignment.pk, stage, {each.key: GivenAnswer("yes") for each in SEAHORSE.stage(stage)}
        )
    return assignment.rating


def test_each_revision_has_a_row_with_the_times_of_its_stage(project):
    make_summary(project)
    rater = make_rater(project)
    rating = rate_here(rater)
    correct_answer(rater, rating.pk, "grammar", GivenAnswer("no", "A verb is missing."))
    rows = json_rows(project, "ratings", file_type="jsonl")
    grammar = [row for row in rows if row["question"] == "grammar"]
    assert len(rows) == len(SEAHORSE.questions) + 1
    assert [(row["value"], row["revision"], row["is_current"], row["after_reveal"]) for row in grammar] == [
        ("yes", 1, False, False),
        ("no", 2, True, True),
    ]
    assert grammar[1]["comment"] == "A verb is missing."
    opened = {time["stage"]: time["opened_at"] for time in rating.stage_times}
    assert all(row["stage_opened_at"] == opened[row["stage"]] and row["stage_seconds"] >= 0 for row in rows)
    assert not any(row["is_imported"] for row in rows)


def test_unfinished_ratings_and_gold_rounds_are_left_out(project):
    make_summary(project)
    rater = make_rater(project)
    submit_stage(rater, take_assignment(rater).pk, 1, {"comprehensibility": GivenAnswer("yes")})
    assert json_rows(project, "ratings", file_type="jsonl") == []


def test_removed_raters_are_left_out_unless_their_status_is_chosen(project):
    kept, removed = (make_rater(project, user=None, pseudonym=name) for name in ("kept", "removed"))
    summary = make_summary(project)
    for rater in (kept, removed):
        rate(summary, rater, comprehensibility="no")
    remove_rater(removed)
    assert {row["rater"] for row in csv_rows(project, "ratings")} == {"kept"}
    chosen = csv_rows(project, "ratings", rater_status=Rater.Status.REMOVED.value)
    assert {row["rater"] for row in chosen} == {"removed"}


def test_no_name_or_address_is_exported(project):
    rater = make_rater(project)
    rater.user.email, rater.user.first_name = "person@example.org", "Personname"
    rater.user.save()
    make_summary(project)
    rate_here(rater)
    text = exported(project, "ratings").decode()
    assert rater.pseudonym in text
    assert not any(word in text for word in (rater.user.username, "person@example.org", "Personname"))


def test_cells_of_a_csv_are_no_formulas_and_numbers_stay_numbers(project):
    article = make_article(project, external_id="+1", title="=1+1")
    rate(make_summary(project, article=article, text="@a"), make_rater(project), "-x", comprehensibility="no")
    (row,) = csv_rows(project, "ratings", articles=True)
    cells = row["article_id"], row["title"], row["summary"], row["comment"], row["revision"]
    assert cells == ("'+1", "'=1+1", "'@a", "'-x", "1")
    assert row["article"] == article.text
