"""The pages of gold rounds: start, round, review and permissions."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.gold.rounds import next_in_round, start_round
from annotation.models import Assignment, QualificationRound, Rater
from annotation.protocol import SEAHORSE
from annotation.rating.submitting import GivenAnswer
from tests.annotation.rating.rating_steps import signed_in, submit_stage, text_of
from tests.factories import ALL_YES, make_article, make_gold, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project(gold_round_size=2, gold_retry_size=2, gold_threshold=0.8)


@pytest.fixture
def rater(project):
    return make_rater(project, status=Rater.Status.TRAINING)


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
    current = start_round(rater, "en")
    while (assignment := next_in_round(current)) is not None:
        finish(rater, assignment, answers)
    return current


# ---- start and round


def test_the_start_page_shows_the_number_of_summaries_and_the_thresholds(browser, rater, project):
    for _ in range(3):
        make_gold(project)
    project.gold_thresholds = {"attribution": 0.5}
    project.save()
    page = text_of(browser.get(queue(rater)))
    assert "you rate 2 summaries" in page
    assert "at least 80% of your answers" in page
    assert "Attribution: 50%" in page
    assert not QualificationRound.objects.exists()


def test_a_rater_without_gold_in_their_languages_cannot_start_a_round(browser, rater, project):
    make_gold(project, language="de")
    page = text_of(browser.get(queue(rater)))
    assert "has none in English yet" in page
    assert reverse("round_start", args=[project.slug]) not in page
    assert browser.post(reverse("round_start", args=[project.slug])).status_code == 403


def test_starting_a_round_opens_the_first_gold_summary(browser, rater, project):
    make_gold(project, text="GOLD SUMMARY.")
    response = browser.post(reverse("round_start", args=[project.slug]), follow=True)
    page = text_of(response)
    assert "GOLD SUMMARY." in page
    assert "<b>0</b> of 1 in round 1" in page
    assert reverse("rate_skip", args=[project.slug, Assignment.objects.get().pk]) not in page


def test_an_open_round_continues_at_its_current_summary(browser, rater, project):
    make_gold(project)
    assignment = next_in_round(start_round(rater, "en"))
    expected = reverse("rate_item", args=[project.slug, assignment.pk])
    assert browser.get(queue(rater)).headers["Location"] == expected
    browser.post(reverse("round_start", args=[project.slug]))
    assert QualificationRound.objects.count() == 1


def test_a_round_cannot_be_started_by_get(browser, project):
    assert browser.get(reverse("round_start", args=[project.slug])).status_code == 405


def test_a_qualified_rater_cannot_start_a_round(project):
    make_gold(project)
    response = signed_in(make_rater(project).user).post(reverse("round_start", args=[project.slug]))
    assert response.status_code == 403


def test_a_gold_summary_cannot_be_skipped(browser, rater, project):
    make_gold(project)
    assignment = next_in_round(start_round(rater, "en"))
    assert (
        browser.post(reverse("rate_skip", args=[project.slug, assignment.pk]), {"reason": "hard"}).status_code
        == 403
    )
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.OPEN


@pytest.mark.parametrize(("headers", "place"), [({}, "Location"), ({"HX-Request": "true"}, "HX-Redirect")])
def test_the_last_answer_of_a_round_redirects_to_its_review(browser, rater, project, headers, place):
    make_gold(project, {"comprehensibility": "no"})
    assignment = next_in_round(start_round(rater, "en"))
    response = browser.post(
        reverse("rate_item", args=[project.slug, assignment.pk]),
        {"stage": 1, "answer-comprehensibility": "no"},
        headers=headers,
    )
    assert response.headers[place] == review(rater)


# ---- the review


def test_the_review_shows_given_and_agreed_answers_with_explanations(browser, rater, project):
    make_gold(project, ALL_YES | {"grammar": "no"}, article=make_article(project, text="GOLD ARTICLE."))
    finish_round(rater)
    page = text_of(browser.get(review(rater)))
    assert "not passed" in page
    assert "You: <b>Yes</b> · Agreed: <b>No</b>" in page
    assert "GOLD-EXPLANATION grammar is no." in page
    assert "GOLD ARTICLE." in page
    assert "MY COMMENT" in page
    assert "0 of 1" in page
    assert "Next round" in page


def test_the_review_of_a_passed_round_links_to_rating(browser, rater, project):
    make_gold(project)
    finish_round(rater)
    page = text_of(browser.get(review(rater)))
    assert "Gold round 1: passed" in page
    assert "Start rating" in page


def test_the_review_shows_the_article_only_if_the_rating_reached_it(browser, rater, project):
    make_gold(project, article=make_article(project, text="GOLD ARTICLE."))
    finish_round(rater, ALL_YES | {"comprehensibility": "no"})
    page = text_of(browser.get(review(rater)))
    assert "GOLD ARTICLE." not in page
    assert "You: <b>not asked</b> · Agreed: <b>Yes</b>" in page


def test_the_review_is_refused_before_the_round_is_decided(browser, rater, project):
    make_gold(project)
    make_gold(project)
    finish(rater, next_in_round(start_round(rater, "en")), ALL_YES)
    response = browser.get(review(rater))
    assert response.status_code == 403
    assert "GOLD-EXPLANATION" not in text_of(response)


def test_another_raters_review_is_not_found(rater, project):
    make_gold(project)
    finish_round(rater)
    other = make_rater(project, status=Rater.Status.TRAINING)
    response = signed_in(other.user).get(review(rater))
    assert response.status_code == 404
    assert "GOLD-EXPLANATION" not in text_of(response)


def test_the_review_needs_a_sign_in_and_membership(rater, project):
    make_gold(project)
    finish_round(rater)
    assert signed_in(make_rater(make_project()).user).get(review(rater)).status_code == 404
    assert Client().get(review(rater)).headers["Location"].startswith(reverse("sign_in"))


def test_a_repeated_summary_is_withheld_until_the_new_round_is_decided(browser, rater, project):
    article = make_article(project, text="GOLD ARTICLE.")
    make_gold(project, ALL_YES | {"grammar": "no"}, article=article)
    finish_round(rater)
    assert "GOLD-EXPLANATION" in text_of(browser.get(review(rater)))
    second = start_round(rater, "en")
    page = text_of(browser.get(review(rater)))
    assert "GOLD-EXPLANATION" not in page
    assert "GOLD ARTICLE." not in page
    assert "in your current round again" in page
    finish(rater, next_in_round(second), ALL_YES)
    assert "GOLD-EXPLANATION" in text_of(browser.get(review(rater)))


def test_the_intro_of_the_next_round_links_to_the_reviews(browser, rater, project):
    make_gold(project, ALL_YES | {"grammar": "no"})
    finish_round(rater)
    page = text_of(browser.get(queue(rater)))
    assert "Next gold round" in page
    assert review(rater) in page


def test_twice_the_summaries_need_no_more_queries(browser, rater, project):
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


def test_a_passed_round_is_followed_by_production_summaries(browser, rater, project):
    make_gold(project)
    make_summary(project, text="PRODUCTION SUMMARY.")
    finish_round(rater)
    assert "PRODUCTION SUMMARY." in text_of(browser.get(queue(rater), follow=True))
