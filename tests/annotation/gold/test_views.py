"""The pages of the gold set."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.gold.rounds import start_round
from annotation.models import GoldRating, Rater
from tests.annotation.rating.rating_steps import signed_in
from tests.factories import ALL_YES, make_gold, make_member, make_rater, make_summary

pytestmark = pytest.mark.django_db

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def client(project):
    return signed_in(make_member(project, "manager"))


def address(name, summary):
    return reverse(name, args=[summary.project.slug, summary.pk])


def form_data(**changes):
    answers = {**ALL_YES, **changes}
    return answers | {f"why:{key}": f"Because {key}." for key, value in answers.items() if value}


def test_a_manager_makes_a_summary_gold(project, client):
    summary = make_summary(project)
    response = client.post(address("gold_answers", summary), form_data(grammar="no"))
    assert response.url == address("summary", summary)
    answers = GoldRating.objects.get(summary=summary).answers
    assert answers.get(question__key="grammar").value == "no"
    assert answers.count() == 6


def test_an_answer_that_ends_the_rating_needs_no_further_answers(project, client):
    summary = make_summary(project)
    unasked = dict.fromkeys(list(ALL_YES)[1:], "")
    client.post(address("gold_answers", summary), form_data(comprehensibility="no", **unasked))
    assert GoldRating.objects.get(summary=summary).answers.count() == 1


@pytest.mark.parametrize(
    ("form", "complaint"),
    [
        (form_data(grammar=""), "Enter the agreed answer."),
        (form_data(comprehensibility="no"), "must stay unanswered"),
        (form_data() | {"why:grammar": " "}, "Explain this answer"),
        (form_data(grammar="perhaps"), "perhaps is not one of the available choices"),
    ],
)
def test_invalid_answers_are_refused_and_kept_in_the_form(project, client, form, complaint):
    summary = make_summary(project)
    response = client.post(address("gold_answers", summary), form)
    assert response.status_code == 422
    assert complaint in response.content.decode()
    assert "Because attribution." in response.content.decode()
    assert not GoldRating.objects.exists()


def test_the_form_shows_the_stored_answers(project, client):
    gold = make_gold(project, {**ALL_YES, "grammar": "no"})
    text = client.get(address("gold_answers", gold.summary)).content.decode()
    assert "GOLD-EXPLANATION grammar is no." in text
    assert 'name="grammar" value="no" id="id_grammar_1" checked' in text


def test_removing_asks_for_confirmation_before_it_changes_anything(project, client):
    gold = make_gold(project)
    asked = client.get(address("gold_remove", gold.summary)).content.decode()
    assert "deleted" in asked
    assert GoldRating.objects.count() == 1
    client.post(address("gold_remove", gold.summary), {"to_be_rated": "on"})
    gold.summary.refresh_from_db()
    assert GoldRating.objects.count() == 0
    assert gold.summary.open_places == 1


def test_a_used_gold_item_is_retired_and_can_be_restored(project, client):
    summary = make_gold(project).summary
    start_round(make_rater(project, status=Rater.Status.TRAINING), "en")
    asked = client.get(address("gold_remove", summary)).content.decode()
    assert "retired" in asked
    assert "to_be_rated" not in asked
    client.post(address("gold_remove", summary))
    assert "Restore to gold set" in client.get(address("summary", summary)).content.decode()
    client.post(address("gold_restore", summary))
    assert GoldRating.objects.get().retired_at is None


def test_restoring_needs_a_post(project, client):
    assert client.get(address("gold_restore", make_gold(project).summary)).status_code == 405


@pytest.mark.parametrize("name", ["gold_answers", "gold_remove", "gold_restore"])
def test_researchers_cannot_change_the_gold_set(project, name):
    summary = make_gold(project).summary
    client = Client()
    client.force_login(make_member(project, "researcher"))
    assert client.post(address(name, summary), form_data(grammar="no")).status_code == 403
    assert GoldRating.objects.get().answers.filter(value="yes").count() == 6


def test_texts_are_escaped_in_the_forms(project, client):
    summary = make_summary(project, text=f"s{SCRIPT}")
    summary.article.text = f"a{SCRIPT}"
    summary.article.save()
    client.post(address("gold_answers", summary), form_data() | {"why:grammar": f"w{SCRIPT}"})
    for name in ("gold_answers", "gold_remove", "summary"):
        text = client.get(address(name, summary)).content.decode()
        assert SCRIPT not in text
        assert "&lt;script&gt;" in text
