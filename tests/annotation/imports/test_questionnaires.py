"""Questionnaires that imports propose, and files that do not fit the project's own."""

import pytest
from django.utils import timezone

from annotation.models import (
    Questionnaire,
    Rating,
)
from annotation.protocol import SUMMEVAL
from annotation.rating.assigning import take_assignment
from tests.annotation.imports.importing_steps import RATINGS, load, row_counts, sheet
from tests.factories import make_gold, make_project, make_rater, make_summary
from tests.import_files import SEAHORSE_HEADER, lines, seahorse_row

pytestmark = pytest.mark.django_db


@pytest.fixture
def seahorse(tmp_path):
    def write(*rows, name="ratings.tsv"):
        return lines(tmp_path / name, SEAHORSE_HEADER, *rows)

    return write


FACTUAL = ["article_id=doc", "question==factual"]


def factual(tmp_path, *values):
    rows = [f"a,x,r{number},{value},S." for number, value in enumerate(values)]
    return lines(tmp_path / "f.csv", "doc,system,rater,value,summary", *rows)


def test_a_proposed_questionnaire_is_not_stored_before_it_is_confirmed(project, tmp_path):
    path = factual(tmp_path, "yes", "No")
    for dry_run in (True, False):
        report = load(project, "ratings", path, dry_run=dry_run, map=FACTUAL)
        assert report.refused
        assert "--create-questionnaire" in report.refused
        (question,) = report.as_json()["questionnaire"]["questions"]
        assert question == {"key": "factual", "scale": "nominal", "answers": "one of yes, no"}
    assert row_counts(project) == (0,) * 7
    assert Questionnaire.objects.count() == 1


def test_a_confirmed_questionnaire_becomes_the_projects_questionnaire(project, tmp_path):
    path = factual(tmp_path, "yes", "No")
    report = load(project, "ratings", path, map=FACTUAL, create_questionnaire=True)
    assert (report.refused, report.rejected) == ("", 0)
    project.refresh_from_db()
    assert [question.key for question in project.questionnaire.protocol.questions] == ["factual"]
    assert sorted(sheet(rating)["factual"] for rating in Rating.objects.all()) == ["no", "yes"]
    assert not load(project, "ratings", path, map=FACTUAL).has_news


def test_a_dry_run_does_not_store_a_confirmed_questionnaire(project, tmp_path):
    path = factual(tmp_path, "yes", "No")
    report = load(project, "ratings", path, dry_run=True, map=FACTUAL, create_questionnaire=True)
    assert (report.refused, report.rejected) == ("", 0)
    assert Questionnaire.objects.count() == 1


@pytest.mark.parametrize("use", ["rating", "gold", "assignment"])
def test_a_project_in_use_keeps_its_questionnaire(project, tmp_path, use):
    if use == "rating":
        Rating.objects.create(
            summary=make_summary(project), rater=make_rater(project), created_at=timezone.now()
        )
    elif use == "gold":
        make_gold(project)
    else:
        make_summary(project)
        take_assignment(make_rater(project))
    report = load(project, "ratings", factual(tmp_path, "yes"), map=FACTUAL, create_questionnaire=True)
    assert report.refused
    assert "Import the file into another project" in report.refused
    project.refresh_from_db()
    assert project.questionnaire.key == "seahorse"


def test_answers_that_fit_no_scale_are_refused_with_the_reason(project, tmp_path):
    report = load(project, "ratings", factual(tmp_path, "3", "3"), map=FACTUAL, create_questionnaire=True)
    assert "No questionnaire fits this file: factual: all answers are '3'" in report.refused


def test_free_text_is_refused_with_the_line_where_it_cannot_be_a_scale(project, tmp_path):
    path = factual(tmp_path, *(f"Fairly accurate {number}" for number in range(40)))
    report = load(project, "ratings", path, skip_bad=True, map=FACTUAL, create_questionnaire=True)
    assert "factual: found more than 20 different words up to line 22" in report.refused
    assert report.stopped


@pytest.mark.parametrize("unused", ["a,,r2,elegance,4,S.,en", "a,x,r2,elegance,,S.,en"])
def test_a_question_that_no_valid_row_answers_asks_for_no_other_questionnaire(tmp_path, unused):
    project = make_project(SUMMEVAL)
    path = lines(tmp_path / "r.csv", RATINGS, "a,x,r,fluency,4,S.,en", unused)
    report = load(project, "ratings", path, skip_bad=True)
    assert (report.refused, report.proposed) == ("", None)
    assert sheet(Rating.objects.get()) == {"fluency": "4"}


def test_answers_off_the_projects_scale_are_invalid_rows(tmp_path):
    project = make_project(SUMMEVAL)
    path = lines(tmp_path / "r.csv", RATINGS, "a,x,r,fluency,4.0,S.,en", "a,x,r,coherence,0.25,S.,en")
    report = load(project, "ratings", path)
    (problem,) = report.problems
    assert (problem.line, problem.field, problem.found) == (3, "value", "'0.25'")
    assert problem.expected == "one of 1, 2, 3, 4, 5"


def test_create_questionnaire_accepts_answers_off_the_projects_scale(tmp_path):
    project = make_project(SUMMEVAL)
    path = lines(tmp_path / "r.csv", RATINGS, "a,x,r,fluency,0.75,S.,en", "a,x,r,coherence,0.25,S.,en")
    assert not load(project, "ratings", path, create_questionnaire=True).refused
    assert sheet(Rating.objects.get()) == {"fluency": "0.75", "coherence": "0.25"}


def test_a_file_for_another_questionnaire_is_refused_before_reading_rows(tmp_path, seahorse):
    report = load(make_project(SUMMEVAL), "seahorse", seahorse(seahorse_row()))
    assert "does not ask comprehensibility" in report.refused
    assert "'seahorse'" in report.refused
