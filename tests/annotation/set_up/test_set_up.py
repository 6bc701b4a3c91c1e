import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.people.invitations import invite
from annotation.set_up.steps import StepState, set_up_of
from tests.factories import (
    make_article,
    make_gold,
    make_member,
    make_project,
    make_rater,
    make_summary,
    publish_guidelines,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project(gold_round_size=1, gold_retry_size=1)


def step(project, key):
    return next(each for each in set_up_of(project).steps if each.key == key)


def page(project, name="set_up", **query):
    client = Client()
    client.force_login(make_member(project, "manager"))
    response = client.get(reverse(name, args=[project.slug]), query)
    assert response.status_code == 200
    return response.content.decode()


def test_a_new_project_lacks_texts_gold_and_people(project):
    found = set_up_of(project)
    assert [each.key for each in found.missing] == ["texts", "gold", "people"]
    assert step(project, "guidelines").state == StepState.OPTIONAL
    text = page(project)
    assert "3 of 7 steps are complete" in text
    assert "There are no summaries to rate." in text


def test_a_complete_project_shows_raters_their_address(project):
    make_summary(project)
    for _ in range(2):
        make_gold(project)
    make_rater(project)
    publish_guidelines(project)
    assert set_up_of(project).missing == []
    text = page(project)
    assert "7 of 7 steps are complete" in text
    assert f"http://testserver{reverse('rate', args=[project.slug])}" in text


def test_summaries_without_their_article_are_missing_texts(project):
    make_summary(project, article=make_article(project, text=""), open_places=1)
    assert "cannot be given, because the article has no text" in step(project, "texts").missing[0]


def test_each_language_needs_as_many_raters_as_a_summary_needs_ratings():
    project = make_project(redundancy=2, extra_redundancy=3, extra_share=0.5)
    make_summary(project)
    make_summary(project, language="de")
    make_rater(project)
    invite(project, "annotator", ["en", "de"])
    missing = "Invite raters: German 2, English 1. A summary needs up to 3 raters."
    assert step(project, "people").missing == (missing,)


def test_the_gold_set_is_counted_for_the_languages_to_rate(project):
    make_summary(project)
    make_gold(project)
    make_gold(project, language="de")
    assert step(project, "gold").found == ("Gold summaries: English 1.",)
    assert step(project, "gold").missing[0].startswith("Add gold summaries: English 1.")


def test_a_closed_campaign_says_so(project):
    project.closed_at = timezone.now()
    project.save()
    assert "This campaign is closed" in page(project)


def test_the_preview_shows_each_stage_with_a_summary_and_conceals_the_article_as_long(project):
    article = make_article(project, text="The whole article.")
    make_summary(project, article=article, text="Its summary.")
    first, last = page(project, "set_up_preview"), page(project, "set_up_preview", stage="3")
    assert "Its summary." in first
    assert "Its summary." in last
    assert "The whole article." not in first
    assert "The whole article." in last
    assert project.questionnaire.protocol.questions[0].wording in first
    assert project.questionnaire.protocol.questions[0].wording not in last


def test_the_preview_shows_a_summary_of_each_language(project):
    make_summary(project, text="An English summary.")
    make_summary(project, language="de", text="Eine deutsche Zusammenfassung.")
    german = page(project, "set_up_preview", language="de")
    assert "Eine deutsche Zusammenfassung." in german
    assert "An English summary." not in german


@pytest.mark.parametrize("query", [{"stage": "0"}, {"stage": "99"}, {"stage": "x"}, {"language": "xx"}])
def test_the_preview_of_a_project_without_texts_shows_its_questions(project, query):
    assert "appears here once texts are imported" in page(project, "set_up_preview", **query)


def test_the_preview_shows_no_gold_summary(project):
    make_gold(project, text="A gold summary.")
    assert "A gold summary." not in page(project, "set_up_preview")
