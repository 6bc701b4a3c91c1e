"""Refusals of the rating page, which store nothing and lose no answers."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Answer, Assignment, Rating
from annotation.people.members import remove_rater, suspend_rater
from annotation.rating.assigning import take_assignment
from tests.annotation.rating.rating_steps import (
    FIRST,
    HTMX,
    THIRD,
    address,
    at_stage,
    sheet,
    signed_in,
    text_of,
)
from tests.factories import make_member, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db


# ---- invalid answers


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_missing_answer_is_marked_at_its_question_and_the_others_are_kept(browser, assignment, headers):
    at_stage(assignment, 2)
    sent = sheet(2, {"repetition": "no"}, grammar="Half a thought")
    response = browser.post(address(assignment), sent, headers=headers)
    page = text_of(response)
    assert response.status_code == 422
    assert 'id="error-grammar" role="alert">Answer this question.' in page
    assert 'id="error-repetition" role="alert"></p>' in page
    assert 'name="answer-repetition" value="no" checked' in page
    assert "Half a thought" in page
    assert Answer.objects.count() == 1
    assert page.count('class="saved" role="status" hidden') == 2, "refused answers are not marked as saved"


def test_an_answer_off_the_scale_is_refused(browser, assignment):
    response = browser.post(address(assignment), sheet(1, {"comprehensibility": "maybe"}), headers=HTMX)
    assert response.status_code == 422
    assert "expected one of yes, no, unsure" in text_of(response)
    assert not Answer.objects.exists()


def test_an_answer_to_a_later_question_is_refused(browser, assignment):
    response = browser.post(address(assignment), sheet(1, FIRST | {"attribution": "yes"}))
    assert response.status_code == 422
    assert not Answer.objects.exists()


def test_a_comment_that_is_too_long_is_refused_and_kept_on_the_page(browser, assignment):
    response = browser.post(address(assignment), sheet(1, FIRST, comprehensibility="x" * 2001))
    assert response.status_code == 422
    assert "The limit is 2000" in text_of(response)
    assert "x" * 2001 in text_of(response)


@pytest.mark.parametrize("stage", ["", "one", "-1"])
def test_a_form_without_a_valid_stage_is_refused(browser, assignment, stage):
    assert browser.post(address(assignment), {"stage": stage}).status_code == 400


def test_refused_answers_are_shown_at_the_stage_that_is_open_now(browser, assignment):
    """Another window may have re-opened the rating meanwhile, which conceals the article again."""
    at_stage(assignment, 3)
    own = Assignment.objects.filter(pk=assignment.pk)

    def return_to_first_stage(execute, sql, *rest):
        result = execute(sql, *rest)
        if "FROM annotation_rater rater" in sql:
            own.update(stage=1)
        return result

    with connection.execute_wrapper(return_to_first_stage):
        response = browser.post(address(assignment), sheet(3, {}), headers=HTMX)
    assert response.status_code == 422
    assert "THE ARTICLE." not in text_of(response)


# ---- locked stages, lost leases, double submits


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_different_answers_to_a_locked_stage_are_refused_with_a_link_to_rating(browser, assignment, headers):
    at_stage(assignment, 2)
    response = browser.post(address(assignment), sheet(1, {"comprehensibility": "no"}), headers=headers)
    assert response.status_code == 409
    assert "These answers are locked" in text_of(response)
    assert reverse("rate", args=[assignment.rater.project.slug]) in text_of(response)
    assert Answer.objects.get().value == "yes"


def test_a_refusal_keeps_the_answers_on_the_page(browser, assignment):
    at_stage(assignment, 2)
    response = browser.post(address(assignment), sheet(1, {"comprehensibility": "no"}), headers=HTMX)
    assert response.headers["HX-Retarget"] == "#trouble"
    assert response.headers["HX-Reswap"] == "innerHTML"
    assert "<form" not in text_of(response)


def test_a_stage_that_is_not_open_yet_is_refused(browser, assignment):
    response = browser.post(address(assignment), sheet(3, THIRD))
    assert response.status_code == 409
    assert "not open yet" in text_of(response)


def test_sending_a_stage_twice_stores_it_once_and_shows_the_next_stage(browser, assignment):
    for _ in range(2):
        response = browser.post(
            address(assignment), sheet(1, FIRST, comprehensibility="Fine. "), headers=HTMX
        )
        assert response.status_code == 200
        assert 'name="answer-repetition"' in text_of(response)
    assert Answer.objects.count() == 1


def test_sending_the_last_stage_twice_stores_one_rating_and_keeps_the_next_summary(browser, assignment):
    make_summary(assignment.rater.project, text="THE NEXT ONE.")
    make_summary(assignment.rater.project, text="THE ONE AFTER.")
    at_stage(assignment, 3)
    pages = [text_of(browser.post(address(assignment), sheet(3, THIRD), headers=HTMX)) for _ in range(2)]
    assert Rating.objects.count() == 1
    assert Answer.objects.count() == 6
    assert Assignment.objects.filter(state=Assignment.State.OPEN).count() == 1
    assert ["THE NEXT ONE." in page for page in pages] in ([True, True], [False, False])


def expire(assignment):
    Assignment.objects.filter(pk=assignment.pk).update(leased_until=timezone.now() - timedelta(minutes=1))


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_an_expired_lease_taken_by_another_rater_is_refused(browser, assignment, headers):
    expire(assignment)
    other = take_assignment(make_rater(assignment.rater.project))
    assert other.summary == assignment.summary
    response = browser.post(address(assignment), sheet(1, FIRST), headers=headers)
    assert response.status_code == 409
    assert "ran out, so it may be with another rater" in text_of(response)
    assert not Answer.objects.exists()


def test_a_summary_with_an_expired_lease_is_no_longer_shown(browser, assignment):
    expire(assignment)
    take_assignment(make_rater(assignment.rater.project))
    response = browser.get(address(assignment))
    assert response.status_code == 409
    assert "THE SUMMARY." not in text_of(response)


def test_an_expired_lease_not_taken_by_others_can_still_be_submitted(browser, assignment):
    expire(assignment)
    assert browser.post(address(assignment), sheet(1, FIRST)).status_code == 302
    assert Answer.objects.count() == 1


def test_a_finished_summary_is_not_shown_again(browser, assignment):
    at_stage(assignment, 4)
    response = browser.get(address(assignment))
    assert response.status_code == 409
    assert "You have finished this summary." in text_of(response)


# ---- other people


@pytest.mark.parametrize("name", ["rate_item", "rate_draft", "rate_flag", "rate_skip"])
def test_another_raters_summary_is_refused_like_a_missing_one(assignment, name):
    other = signed_in(make_rater(assignment.rater.project).user)
    refused = other.post(address(assignment, name), sheet(1, FIRST))
    absent = other.post(reverse(name, args=[assignment.rater.project.slug, 999_999]), sheet(1, FIRST))
    assert refused.status_code == absent.status_code == 409
    assert "This summary is not assigned to you." in text_of(refused)
    assert "This summary is not assigned to you." in text_of(absent)


def test_another_raters_summary_cannot_be_opened(assignment):
    response = signed_in(make_rater(assignment.rater.project).user).get(address(assignment))
    assert response.status_code == 409
    assert "THE SUMMARY." not in text_of(response)


@pytest.mark.parametrize("name", ["rate_item", "rate_draft", "rate_flag", "rate_skip"])
def test_an_annotator_of_another_project_gets_not_found(assignment, name):
    stranger = signed_in(make_rater(make_project()).user)
    assert stranger.post(address(assignment, name), sheet(1, FIRST)).status_code == 404


@pytest.mark.parametrize("role", ["manager", "researcher"])
def test_managers_and_researchers_cannot_rate(role):
    project = make_project()
    response = signed_in(make_member(project, role)).get(reverse("rate", args=[project.slug]))
    assert response.status_code == 403


def test_anonymous_visitors_are_sent_to_the_sign_in_page(assignment):
    project = assignment.rater.project
    for name, arguments in (
        ("rate", [project.slug]),
        ("rate_item", [project.slug, assignment.pk]),
        ("rate_draft", [project.slug, assignment.pk]),
        ("rate_flag", [project.slug, assignment.pk]),
        ("rate_skip", [project.slug, assignment.pk]),
    ):
        for send in (Client().get, Client().post):
            response = send(reverse(name, args=arguments))
            assert response.status_code == 302
            assert response.headers["Location"].startswith(reverse("sign_in") + "?next=")


def test_a_suspended_rater_sees_that_they_are_suspended(browser, assignment):
    suspend_rater(assignment.rater)
    response = browser.get(reverse("rate", args=[assignment.rater.project.slug]))
    assert response.status_code == 403
    assert "You are suspended" in text_of(response)


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_suspended_rater_can_neither_see_nor_submit_summaries(browser, assignment, headers):
    suspend_rater(assignment.rater)
    for response in (
        browser.get(address(assignment), headers=headers),
        browser.post(address(assignment), sheet(1, FIRST), headers=headers),
        browser.post(address(assignment, "rate_draft"), sheet(1, FIRST), headers=headers),
    ):
        assert response.status_code == 403
        assert "suspended" in text_of(response)
        assert "THE SUMMARY." not in text_of(response)
    assert not Answer.objects.exists()


def test_a_removed_rater_sees_that_they_are_no_longer_a_member(browser, assignment):
    remove_rater(assignment.rater)
    response = browser.get(reverse("rate", args=[assignment.rater.project.slug]))
    assert response.status_code == 404
    assert "no longer a member" in text_of(response)


def test_forms_without_the_csrf_token_are_refused(assignment):
    client = signed_in(assignment.rater.user, enforce_csrf_checks=True)
    for name in ("rate_item", "rate_draft", "rate_flag", "rate_skip"):
        assert client.post(address(assignment, name), sheet(1, FIRST)).status_code == 403
    assert not Answer.objects.exists()
    token = client.get(address(assignment)).context["csrf_token"]
    sent = sheet(1, FIRST) | {"csrfmiddlewaretoken": str(token)}
    assert client.post(address(assignment), sent).status_code == 302
