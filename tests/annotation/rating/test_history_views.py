"""The pages of a rater's own ratings."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.dateformat import format as date

from annotation.gold.rounds import next_in_round, start_round
from annotation.models import Answer, Project, Rater, Rating
from annotation.people.members import suspend_rater
from annotation.protocol import SEAHORSE
from annotation.rating.assigning import take_assignment
from annotation.rating.submitting import GivenAnswer, correct_answer
from annotation.rating.voiding import void_rating
from tests.annotation.rating.rating_steps import signed_in, submit_stage, text_of
from tests.factories import (
    ALL_YES,
    make_article,
    make_gold,
    make_member,
    make_project,
    make_rater,
    make_summary,
    make_system,
)

pytestmark = pytest.mark.django_db


def rate_next(rater, answers=ALL_YES, comment=""):
    assignment = take_assignment(rater)
    for stage in (1, 2, 3):
        if all(q.key in answers for q in SEAHORSE.stage(stage)):
            given = {q.key: GivenAnswer(answers[q.key], comment) for q in SEAHORSE.stage(stage)}
            submit_stage(rater, assignment.pk, stage, given)
    return Rating.objects.get(assignment=assignment)


def listing(project):
    return reverse("history", args=[project.slug])


def page_of(rating):
    return reverse("history_rating", args=[rating.rater.project.slug, rating.pk])


def correction(rating, key):
    return reverse("history_correct", args=[rating.rater.project.slug, rating.pk, key])


# ---- the list


def test_finished_ratings_are_listed_newest_first(browser, rater, project):
    for text in ("THE FIRST.", "THE SECOND."):
        make_summary(project, text=text)
        rate_next(rater)
    page = text_of(browser.get(listing(project)))
    assert page.index("THE SECOND.") < page.index("THE FIRST.")


def test_unfinished_ratings_are_not_listed(browser, rater, project):
    make_summary(project, text="BEGUN.")
    submit_stage(rater, take_assignment(rater).pk, 1, {"comprehensibility": GivenAnswer("yes")})
    page = text_of(browser.get(listing(project)))
    assert "BEGUN." not in page
    assert "You have no finished ratings yet." in page


def test_a_page_lists_twenty_ratings(browser, rater, project):
    for _ in range(21):
        make_summary(project)
        rate_next(rater, {"comprehensibility": "no"})
    first, second = (text_of(browser.get(listing(project), {"page": number})) for number in (1, 2))
    assert first.count('class="excerpt"') == 20
    assert second.count('class="excerpt"') == 1
    assert "Page 1 of 2" in first


def test_twenty_ratings_need_no_more_queries_than_two(browser, rater, project):
    counts = []
    for more in (2, 18):
        for _ in range(more):
            make_summary(project)
            rate_next(rater, comment="Hm.")
        with CaptureQueriesContext(connection) as queries:
            browser.get(listing(project))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_gold_ratings_are_not_listed_but_their_reviews_are(project):
    rater = make_rater(project, status=Rater.Status.TRAINING)
    make_gold(project, {"comprehensibility": "no"}, text="GOLD SUMMARY.")
    assignment = next_in_round(start_round(rater, "en"))
    submit_stage(rater, assignment.pk, 1, {"comprehensibility": GivenAnswer("no")})
    browser = signed_in(rater.user)
    page = text_of(browser.get(listing(project)))
    assert "GOLD SUMMARY." not in page
    assert reverse("round_review", args=[project.slug, 1]) in page
    assert browser.get(page_of(Rating.objects.get())).status_code == 404


def test_other_raters_ratings_are_neither_listed_nor_opened(browser, rater, project):
    other = make_rater(project)
    make_summary(project, text="ANOTHER'S SUMMARY.")
    rating = rate_next(other, comment="ANOTHER'S COMMENT")
    for response in (
        browser.get(listing(project)),
        browser.get(page_of(rating)),
        browser.post(correction(rating, "grammar"), {"answer-grammar": "no"}),
    ):
        assert "ANOTHER" not in text_of(response)
    assert browser.get(page_of(rating)).status_code == 404
    assert browser.post(correction(rating, "grammar"), {"answer-grammar": "no"}).status_code == 404
    assert Answer.objects.filter(rating=rating, value="no").count() == 0


def test_the_history_needs_a_sign_in_and_membership(rater, project):
    make_summary(project)
    rating = rate_next(rater)
    stranger = signed_in(make_rater(make_project()).user)
    for address in (listing(project), page_of(rating)):
        assert Client().get(address).headers["Location"].startswith(reverse("sign_in"))
        assert stranger.get(address).status_code == 404


# ---- figures


def test_the_page_shows_todays_ratings_of_the_goal_and_the_seven_days(browser, rater, project):
    project.daily_goal = 12
    project.save()
    assert "Pace" not in text_of(browser.get(listing(project)))
    for _ in range(3):
        make_summary(project)
        rate_next(rater, {"comprehensibility": "no"})
    yesterday = timezone.now() - timedelta(days=1)
    Rating.objects.filter(pk=Rating.objects.latest("pk").pk).update(completed_at=yesterday)
    page = figures_on(text_of(browser.get(listing(project))))
    assert "Today 2 of the daily goal of 12 In all 3 finished" in page
    assert f"{date(yesterday, 'D j M')} 1 Today 2" in page
    assert "median of your last 3 ratings here" in page


def test_without_times_the_page_says_why_there_is_no_median(browser, rater, project):
    make_summary(project)
    rate_next(rater)
    Rating.objects.update(stage_times=[])
    page = figures_on(text_of(browser.get(listing(project))))
    assert "Time for a rating – No times are stored" in page


def test_no_other_raters_work_is_in_a_raters_figures(browser, rater, project):
    make_summary(project)
    rate_next(rater)
    page = figures_on(text_of(browser.get(listing(project))))
    for _ in range(2):
        make_summary(project)
        rate_next(make_rater(project))
    assert figures_on(text_of(browser.get(listing(project)))) == page


def void(rating, reason):
    project = rating.rater.project
    void_rating(project, make_member(project, "manager"), rating.pk, reason)


def figures_on(page):
    """Return what the page says above the list, without its markup."""
    return " ".join(re.sub("<[^>]+>", " ", page[: page.index('<ol class="ratings"')]).split())


def test_voided_ratings_are_counted_and_listed_alone_with_their_reasons(browser, rater, project):
    for text in ("IT COUNTS.", "IT IS VOIDED."):
        make_summary(project, text=text)
        rating = rate_next(rater)
    assert "Voided" not in text_of(browser.get(listing(project)))
    void(rating, "Rated the <wrong> town.")
    page = text_of(browser.get(listing(project)))
    assert "Count 1 Do not count 1" in figures_on(page)
    assert "Does not count: Rated the &lt;wrong&gt; town." in page
    alone = text_of(browser.get(listing(project), {"shown": "voided"}))
    assert "1 voided, newest first" in alone
    assert "IT IS VOIDED." in alone
    assert "IT COUNTS." not in alone


def test_the_next_page_of_voided_ratings_lists_voided_ones(browser, rater, project):
    for _ in range(21):
        make_summary(project)
        rate_next(rater, {"comprehensibility": "no"})
    make_summary(project, text="IT COUNTS.")
    Rating.objects.update(voided_at=timezone.now(), void_reason="Too fast.")
    rate_next(rater)
    first = text_of(browser.get(listing(project), {"shown": "voided"}))
    assert 'href="?shown=voided&amp;page=2"' in first
    assert "IT COUNTS." not in first


def test_without_voided_ratings_their_list_leads_back_to_all(browser, rater, project):
    make_summary(project)
    rate_next(rater)
    page = text_of(browser.get(listing(project), {"shown": "voided"}))
    assert "None of your ratings is voided." in page
    assert f'href="{listing(project)}"' in page


def test_ratings_of_gold_rounds_do_not_count(project):
    rater = make_rater(project, status=Rater.Status.TRAINING)
    make_gold(project, {"comprehensibility": "no"})
    assignment = next_in_round(start_round(rater, "en"))
    submit_stage(rater, assignment.pk, 1, {"comprehensibility": GivenAnswer("no")})
    page = text_of(signed_in(rater.user).get(listing(project)))
    assert "<b>0</b>" in page
    assert "1 in gold rounds" in page


def rate_two(project, *, is_check):
    """Return the pages that a new rater sees after two ratings, the second a hidden check or not."""
    rater = make_rater(project)
    make_gold(project)
    for _ in range(2):
        make_summary(project)
    rate_next(rater)
    Project.objects.update(check_rate=int(is_check))
    checked = rate_next(rater)
    assert checked.is_check == is_check
    browser = signed_in(rater.user)
    pages = [browser.get(listing(project))]
    void(checked, "Too fast.")
    pages += [browser.get(listing(project), query) for query in ({}, {"shown": "voided"})]
    figures = [figures_on(text_of(page)).replace(rater.user.username, "NAME") for page in pages]
    return [re.sub(r"\d+ s ", "TIME ", page) for page in figures]


def test_no_figure_tells_a_hidden_check_from_another_rating(project):
    ordinary, checked = (rate_two(project, is_check=is_check) for is_check in (False, True))
    assert "Count 2 Do not count 0" in checked[0]
    assert "Count 1 Do not count 1 1 voided" in checked[1]
    assert checked == ordinary


def test_a_check_does_not_count_once_its_answers_were_shown(browser, rater, project):
    project.check_rate, project.check_feedback = 1, True
    project.save()
    make_summary(project)
    make_gold(project)
    rating = rate_next(rater)
    assert rating.is_check
    page = figures_on(text_of(browser.get(listing(project))))
    assert "Count 0 Do not count 1 1 hidden check whose expected answers you have seen" in page
    void(rating, "Too fast.")
    page = figures_on(text_of(browser.get(listing(project))))
    assert "Count 0 Do not count 1 1 voided" in page


# ---- one rating


def test_a_rating_shows_its_answers_comments_and_article(browser, rater, project):
    make_summary(project, article=make_article(project, text="THE ARTICLE."), text="THE SUMMARY.")
    page = text_of(browser.get(page_of(rate_next(rater, comment="MY COMMENT"))))
    for shown in ("THE SUMMARY.", "THE ARTICLE.", "MY COMMENT", "Attribution"):
        assert shown in page
    assert "system-a" not in page


def test_a_rating_that_ended_before_the_article_does_not_show_it(browser, rater, project):
    make_summary(project, article=make_article(project, text="THE ARTICLE."))
    page = text_of(browser.get(page_of(rate_next(rater, {"comprehensibility": "no"}))))
    assert "THE ARTICLE." not in page
    assert "Attribution" not in page


def test_the_article_is_hidden_while_the_open_assignment_conceals_it(browser, rater, project):
    article = make_article(project, text="THE ARTICLE.")
    for name in ("system-a", "system-b"):
        make_summary(project, article=article, system=make_system(project, name))
    rating = rate_next(rater)
    assert "THE ARTICLE." in text_of(browser.get(page_of(rating)))
    assignment = take_assignment(rater)
    page = text_of(browser.get(page_of(rating)))
    assert "THE ARTICLE." not in page
    assert "The article is hidden while you rate another" in page
    submit_stage(rater, assignment.pk, 1, {"comprehensibility": GivenAnswer("yes")})
    assert "THE ARTICLE." not in text_of(browser.get(page_of(rating)))
    second = {"repetition": GivenAnswer("yes"), "grammar": GivenAnswer("yes")}
    submit_stage(rater, assignment.pk, 2, second)
    assert "THE ARTICLE." in text_of(browser.get(page_of(rating)))


# ---- corrections


@pytest.fixture
def rating(rater, project):
    make_summary(project)
    return rate_next(rater)


def test_a_correction_is_stored_as_a_marked_revision(browser, rating, project):
    sent = {"answer-grammar": "no", "comment-grammar": "A comma is missing."}
    page = text_of(browser.post(correction(rating, "grammar"), sent, follow=True))
    assert "corrected" in page
    assert "A comma is missing." in page
    assert "after a later stage had been shown" in page
    values = Answer.objects.filter(rating=rating, question__key="grammar").order_by("revision")
    assert [(answer.value, answer.is_current) for answer in values] == [("yes", False), ("no", True)]
    assert "corrected" in text_of(browser.get(listing(project)))


def test_sending_a_correction_twice_adds_one_revision(browser, rating):
    for _ in range(2):
        browser.post(correction(rating, "grammar"), {"answer-grammar": "no"})
    assert Answer.objects.filter(rating=rating, question__key="grammar").count() == 2


@pytest.mark.parametrize(
    ("key", "value"),
    [("grammar", "maybe"), ("grammar", ""), ("comprehensibility", "no"), ("no-such-question", "yes")],
)
def test_an_invalid_correction_is_refused_with_the_reason(browser, rating, key, value):
    response = browser.post(correction(rating, key), {f"answer-{key}": value, f"comment-{key}": "KEPT"})
    assert response.status_code == 422
    assert Answer.objects.filter(rating=rating).count() == 6
    if key != "no-such-question":
        assert 'class="error" role="alert"' in text_of(response)
        assert "KEPT" in text_of(response)


def test_a_correction_cannot_choose_an_answer_that_ends_the_rating(browser, rating):
    page = text_of(browser.get(page_of(rating)))
    assert 'name="answer-comprehensibility" value="no" disabled' in page
    assert 'name="answer-grammar" value="no">' in page


def test_an_answer_that_ended_the_rating_cannot_be_corrected(browser, rater, project):
    make_summary(project)
    rating = rate_next(rater, {"comprehensibility": "no"})
    sent = {"answer-comprehensibility": "yes"}
    assert browser.post(correction(rating, "comprehensibility"), sent).status_code == 422


def test_a_project_without_corrections_shows_no_form_and_refuses_posts(browser, rating, project):
    project.allow_corrections = False
    project.save()
    page = text_of(browser.get(page_of(rating)))
    assert correction(rating, "grammar") not in page
    assert browser.post(correction(rating, "grammar"), {"answer-grammar": "no"}).status_code == 403
    assert Answer.objects.filter(rating=rating).count() == 6


def test_a_suspended_rater_can_see_but_not_correct_a_rating(browser, rating, rater):
    suspend_rater(rater)
    page = text_of(browser.get(page_of(rating)))
    assert correction(rating, "grammar") not in page
    assert browser.post(correction(rating, "grammar"), {"answer-grammar": "no"}).status_code == 403


def test_corrections_need_the_csrf_token(rating):
    client = Client(enforce_csrf_checks=True)
    client.force_login(rating.rater.user)
    assert client.post(correction(rating, "grammar"), {"answer-grammar": "no"}).status_code == 403


def test_all_versions_of_an_answer_are_shown(browser, rating, rater):
    for value in ("no", "unsure"):
        correct_answer(rater, rating.pk, "grammar", GivenAnswer(value))
    page = text_of(browser.get(page_of(rating)))
    versions = page[page.index("All versions") :]
    assert versions.index("Yes,") < versions.index("No,") < versions.index("Unsure,")
