"""Gold rounds through their addresses: the way in, the round, its review, and who may not see it."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.actions.gold_rounds import next_in_round, start_round
from annotation.actions.rating import GivenAnswer, submit_stage
from annotation.models import Assignment, QualificationRound, Rater
from annotation.protocol import SEAHORSE
from tests.factories import ALL_YES, make_article, make_gold, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project(gold_round_size=2, gold_retry_size=2, gold_threshold=0.8)


@pytest.fixture
def rater(project):
    return make_rater(project, status=Rater.Status.TRAINING)


@pytest.fixture
def browser(rater):
    return signed_in(rater)


def signed_in(rater):
    client = Client()
    client.force_login(rater.user)
    return client


def text_of(response):
    return response.content.decode()


def queue(rater):
    return reverse("rate", args=[rater.project.slug])


def review(rater, number=1):
    return reverse("round_review", args=[rater.project.slug, number])


def finish(rater, assignment, answers):
    for stage in (1, 2, 3):
        assignment.refresh_from_db()
        if assignment.state == Assignment.State.OPEN:
            given = {q.key: GivenAnswer(answers[q.key], "MY COMMENT") for q in SEAHORSE.stage(stage)}
            submit_stage(rater, assignment.pk, stage, given)


def finish_round(rater, answers=ALL_YES):
    current = start_round(rater)
    while (assignment := next_in_round(current)) is not None:
        finish(rater, assignment, answers)
    return current


# ---- the way in


def test_a_rater_in_training_is_told_how_many_summaries_and_what_it_takes(browser, rater, project):
    for _ in range(3):
        make_gold(project)
    project.gold_thresholds = {"attribution": 0.5}
    project.save()
    page = text_of(browser.get(queue(rater)))
    assert "you rate 2 summaries" in page
    assert "at least 80% of your answers" in page
    assert "Attribution: 50%" in page
    assert not QualificationRound.objects.exists()


def test_without_gold_in_ones_languages_there_is_no_round_to_start(browser, rater, project):
    make_gold(project, language="de")
    page = text_of(browser.get(queue(rater)))
    assert "has none in English yet" in page
    assert reverse("round_start", args=[project.slug]) not in page
    assert browser.post(reverse("round_start", args=[project.slug])).status_code == 403


def test_starting_leads_to_the_first_gold_summary(browser, rater, project):
    make_gold(project, text="GOLD SUMMARY.")
    response = browser.post(reverse("round_start", args=[project.slug]), follow=True)
    page = text_of(response)
    assert "GOLD SUMMARY." in page
    assert "<b>0</b> of 1 in round 1" in page
    assert reverse("rate_skip", args=[project.slug, Assignment.objects.get().pk]) not in page


def test_a_round_is_taken_up_where_it_was_left(browser, rater, project):
    make_gold(project)
    assignment = next_in_round(start_round(rater))
    expected = reverse("rate_item", args=[project.slug, assignment.pk])
    assert browser.get(queue(rater)).headers["Location"] == expected
    browser.post(reverse("round_start", args=[project.slug]))
    assert QualificationRound.objects.count() == 1


def test_a_round_cannot_be_started_by_get(browser, project):
    assert browser.get(reverse("round_start", args=[project.slug])).status_code == 405


def test_a_qualified_rater_starts_no_round(project):
    make_gold(project)
    response = signed_in(make_rater(project)).post(reverse("round_start", args=[project.slug]))
    assert response.status_code == 403


def test_a_gold_summary_cannot_be_skipped(browser, rater, project):
    make_gold(project)
    assignment = next_in_round(start_round(rater))
    assert browser.post(reverse("rate_skip", args=[project.slug, assignment.pk])).status_code == 403
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.OPEN


@pytest.mark.parametrize(("headers", "place"), [({}, "Location"), ({"HX-Request": "true"}, "HX-Redirect")])
def test_the_last_answer_of_a_round_leads_to_its_review(browser, rater, project, headers, place):
    make_gold(project, {"comprehensibility": "no"})
    assignment = next_in_round(start_round(rater))
    response = browser.post(
        reverse("rate_item", args=[project.slug, assignment.pk]),
        {"stage": 1, "answer-comprehensibility": "no"},
        headers=headers,
    )
    assert response.headers[place] == review(rater)


# ---- the review


def test_the_review_shows_what_was_answered_what_was_expected_and_why(browser, rater, project):
    make_gold(project, ALL_YES | {"grammar": "no"}, article=make_article(project, text="GOLD ARTICLE."))
    finish_round(rater)
    page = text_of(browser.get(review(rater)))
    assert "not passed" in page
    assert "You: <b>Yes</b> · Agreed: <b>No</b>" in page
    assert "GOLD-EXPLANATION grammar is no." in page
    assert "GOLD ARTICLE." in page
    assert "MY COMMENT" in page
    assert "0 of 1" in page
    assert "To the next round" in page


def test_a_passed_round_leads_on_to_rating(browser, rater, project):
    make_gold(project)
    finish_round(rater)
    page = text_of(browser.get(review(rater)))
    assert "Gold round 1: passed" in page
    assert "Start rating" in page


def test_the_review_shows_the_article_only_where_the_rating_reached_it(browser, rater, project):
    make_gold(project, article=make_article(project, text="GOLD ARTICLE."))
    finish_round(rater, ALL_YES | {"comprehensibility": "no"})
    page = text_of(browser.get(review(rater)))
    assert "GOLD ARTICLE." not in page
    assert "You: <b>not asked</b> · Agreed: <b>Yes</b>" in page


def test_the_review_is_refused_before_the_round_is_decided(browser, rater, project):
    make_gold(project)
    make_gold(project)
    finish(rater, next_in_round(start_round(rater)), ALL_YES)
    response = browser.get(review(rater))
    assert response.status_code == 403
    assert "GOLD-EXPLANATION" not in text_of(response)


def test_anothers_review_is_out_of_reach(rater, project):
    make_gold(project)
    finish_round(rater)
    other = make_rater(project, status=Rater.Status.TRAINING)
    response = signed_in(other).get(review(rater))
    assert response.status_code == 404
    assert "GOLD-EXPLANATION" not in text_of(response)


def test_the_review_is_out_of_reach_from_another_project_and_without_a_sign_in(rater, project):
    make_gold(project)
    finish_round(rater)
    assert signed_in(make_rater(make_project())).get(review(rater)).status_code == 404
    assert Client().get(review(rater)).headers["Location"].startswith(reverse("sign_in"))


def test_a_summary_that_comes_again_is_withheld_until_the_new_round_is_decided(browser, rater, project):
    article = make_article(project, text="GOLD ARTICLE.")
    make_gold(project, ALL_YES | {"grammar": "no"}, article=article)
    finish_round(rater)
    assert "GOLD-EXPLANATION" in text_of(browser.get(review(rater)))
    second = start_round(rater)
    page = text_of(browser.get(review(rater)))
    assert "GOLD-EXPLANATION" not in page
    assert "GOLD ARTICLE." not in page
    assert "in your present round again" in page
    finish(rater, next_in_round(second), ALL_YES)
    assert "GOLD-EXPLANATION" in text_of(browser.get(review(rater)))


def test_the_intro_of_the_next_round_links_to_the_reviews(browser, rater, project):
    make_gold(project, ALL_YES | {"grammar": "no"})
    finish_round(rater)
    page = text_of(browser.get(queue(rater)))
    assert "The next gold round" in page
    assert review(rater) in page


def test_twice_the_summaries_cost_as_many_queries(browser, rater, project):
    counts = []
    for size in (2, 4):
        project.gold_round_size = project.gold_retry_size = size
        project.save()
        for _ in range(size):
            make_gold(project, ALL_YES | {"grammar": "no"})
        number = finish_round(rater).number
        with CaptureQueriesContext(connection) as queries:
            assert browser.get(review(rater, number)).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_after_a_pass_production_summaries_come(browser, rater, project):
    make_gold(project)
    make_summary(project, text="PRODUCTION SUMMARY.")
    finish_round(rater)
    assert "PRODUCTION SUMMARY." in text_of(browser.get(queue(rater), follow=True))
