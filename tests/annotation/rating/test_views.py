"""The rating page: stages, drafts, flags and skipping."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation import protocol
from annotation.models import Answer, ArticleFlag, Assignment, Project, Rating
from annotation.rating.assigning import take_assignment
from annotation.rating.reopening import reopen_rating
from tests.annotation.rating.rating_steps import (
    FIRST,
    HTMX,
    SECOND,
    THIRD,
    address,
    at_stage,
    sheet,
    signed_in,
    text_of,
)
from tests.factories import (
    make_article,
    make_gold,
    make_project,
    make_rater,
    make_summary,
    publish_guidelines,
)

pytestmark = pytest.mark.django_db


# ---- stages


def test_the_queue_redirects_to_the_open_summary(browser, assignment):
    response = browser.get(reverse("rate", args=[assignment.rater.project.slug]))
    assert response.headers["Location"] == address(assignment)


def test_the_first_stage_shows_the_summary_and_its_one_question(browser, assignment):
    page = text_of(browser.get(address(assignment)))
    assert "THE SUMMARY." in page
    assert 'name="answer-comprehensibility"' in page
    for later in ("repetition", "attribution", "THE TITLE", "THE ARTICLE."):
        assert later not in page


def test_the_last_stage_shows_the_article_and_the_locked_answers(browser, assignment):
    page = text_of(browser.get(address(at_stage(assignment, 3))))
    assert "THE TITLE" in page
    assert "THE ARTICLE." in page
    assert 'name="answer-attribution"' in page
    assert 'name="answer-grammar"' not in page
    assert "Grammatical" in page


@pytest.mark.parametrize("questionnaire", [protocol.SUMMEVAL])
def test_an_ordinal_questionnaire_with_one_stage_shows_the_article_at_once(questionnaire):
    project = make_project(questionnaire)
    rater = make_rater(project)
    make_summary(project, article=make_article(project, text="THE ARTICLE."))
    page = text_of(signed_in(rater.user).get(address(take_assignment(rater))))
    assert "THE ARTICLE." in page
    assert page.count('name="answer-coherence"') == 5


@pytest.mark.parametrize(("language", "direction"), [("de", "ltr"), ("ar", "rtl")])
def test_texts_have_language_and_direction_attributes(language, direction):
    project = make_project(protocol.SUMMEVAL)
    rater = make_rater(project, languages=[language])
    make_summary(project, language=language)
    page = text_of(signed_in(rater.user).get(address(take_assignment(rater))))
    assert page.count(f'lang="{language}" dir="{direction}"') == 2


def test_submitting_a_stage_by_htmx_returns_only_the_next_stage(browser, assignment):
    response = browser.post(address(assignment), sheet(1, FIRST), headers=HTMX)
    assert response.status_code == 200
    assert 'name="answer-repetition"' in text_of(response)
    assert "<html" not in text_of(response)


def test_submitting_a_stage_without_htmx_redirects_to_the_page(browser, assignment):
    response = browser.post(address(assignment), sheet(1, FIRST))
    assert response.status_code == 302
    assert 'name="answer-repetition"' in text_of(browser.get(response.headers["Location"]))


def test_submitting_the_last_stage_returns_the_next_summary(browser, assignment):
    following = make_summary(assignment.rater.project, text="THE NEXT ONE.")
    response = browser.post(address(at_stage(assignment, 3)), sheet(3, THIRD), headers=HTMX)
    page = text_of(response)
    assert "THE NEXT ONE." in page
    assert 'name="answer-comprehensibility"' in page
    assert "THE ARTICLE." not in page
    assert "Saved. Rating 1 of 60 today." in page
    assert reverse("history_rating", args=[assignment.rater.project.slug, assignment.rating.pk]) in page
    assert response.headers["HX-Replace-Url"] == address(Assignment.objects.get(summary=following))


def test_submitting_the_last_stage_without_htmx_redirects_to_the_next_summary(browser, assignment):
    make_summary(assignment.rater.project, text="THE NEXT ONE.")
    response = browser.post(address(at_stage(assignment, 3)), sheet(3, THIRD), follow=True)
    assert "THE NEXT ONE." in text_of(response)
    assert "Saved. Rating 1 of 60 today." in text_of(response)


def test_an_answer_that_ends_the_rating_returns_the_next_summary(browser, assignment):
    make_summary(assignment.rater.project, text="THE NEXT ONE.")
    response = browser.post(address(assignment), sheet(1, {"comprehensibility": "no"}), headers=HTMX)
    assert "THE NEXT ONE." in text_of(response)
    assert Rating.objects.get().completed_at is not None


def test_after_the_last_summary_the_page_says_that_nothing_is_left(browser, assignment):
    response = browser.post(address(at_stage(assignment, 3)), sheet(3, THIRD), follow=True)
    assert "Nothing left to rate" in text_of(response)
    assert "You rated 1 today" in text_of(response)


def test_after_the_last_summary_htmx_is_redirected_to_the_queue(browser, assignment):
    response = browser.post(address(at_stage(assignment, 3)), sheet(3, THIRD), headers=HTMX)
    assert response.headers["HX-Redirect"] == reverse("rate", args=[assignment.rater.project.slug])


def test_the_daily_count_continues_past_the_goal(browser, assignment):
    project = assignment.rater.project
    project.daily_goal = 0
    project.save()
    make_summary(project)
    response = browser.post(address(assignment), sheet(1, {"comprehensibility": "no"}), headers=HTMX)
    assert "Saved. Rating 1 today; the daily goal is 0." in text_of(response)


GOAL_OF_TWO = "Saved. You have reached today’s goal of 2. Thank you."


@pytest.fixture
def near_the_goal(rater):
    """Return a browser whose rater has rated one of a goal of two, with further summaries to rate."""
    rater.project.daily_goal = 2
    rater.project.save()
    for _ in range(4):
        make_summary(rater.project)
    browser = signed_in(rater.user)
    rate_next_by_hand(browser, rater)
    return browser


def rate_next_by_hand(browser, rater, **options):
    """Rate the next summary on its page, by an answer that ends it, and return the response as text."""
    form = sheet(1, {"comprehensibility": "no"})
    return text_of(browser.post(address(take_assignment(rater)), form, **options))


def test_the_rating_that_reaches_the_daily_goal_is_celebrated_once(near_the_goal, rater):
    page = rate_next_by_hand(near_the_goal, rater, headers=HTMX)
    assert f'<p class="message goal success">{GOAL_OF_TWO}' in page
    assert 'class="share push reached"' in page
    following = text_of(near_the_goal.post(address(take_assignment(rater)), sheet(1, FIRST), headers=HTMX))
    assert 'class="share push reached"' in following
    assert "message goal" not in following
    submitted = near_the_goal.post(address(take_assignment(rater)), sheet(2, SECOND), headers=HTMX)
    assert submitted.status_code == 200
    last = text_of(near_the_goal.post(address(take_assignment(rater)), sheet(3, THIRD), headers=HTMX))
    assert "Saved. Rating 3 today; the daily goal is 2." in last
    assert "message goal" not in last


def test_before_the_goal_the_share_is_not_marked_as_reached(near_the_goal, rater):
    page = text_of(near_the_goal.get(address(take_assignment(rater))))
    assert 'class="share push"' in page
    assert "goal reached" not in page


def test_the_goal_is_celebrated_without_htmx_too(near_the_goal, rater):
    assert GOAL_OF_TWO in rate_next_by_hand(near_the_goal, rater, follow=True)


def test_a_rating_that_is_sent_twice_is_celebrated_again_because_the_first_response_was_lost(
    near_the_goal, rater
):
    item, form = address(take_assignment(rater)), sheet(1, {"comprehensibility": "no"})
    for _ in range(2):
        assert GOAL_OF_TWO in text_of(near_the_goal.post(item, form, headers=HTMX))


def test_finishing_a_rating_of_today_anew_reaches_no_goal(near_the_goal, rater):
    reopen_rating(rater, Rating.objects.get().pk)
    page = rate_next_by_hand(near_the_goal, rater, headers=HTMX)
    assert "Saved. Rating 1 of 2 today." in page
    assert "<b>1</b> of 2 today" in page
    assert GOAL_OF_TWO in rate_next_by_hand(near_the_goal, rater, headers=HTMX)


def test_finishing_a_rating_of_yesterday_anew_can_reach_the_goal(near_the_goal, rater):
    rate_next_by_hand(near_the_goal, rater)
    latest = Rating.objects.latest("pk")
    Rating.objects.update(completed_at=timezone.now() - timedelta(days=2))
    Rating.objects.filter(pk=latest.pk).update(completed_at=timezone.now() - timedelta(days=1))
    Project.objects.update(daily_goal=1)
    reopen_rating(rater, latest.pk)
    assert "You have reached today’s goal of 1." in rate_next_by_hand(near_the_goal, rater, headers=HTMX)


def test_a_check_that_reaches_the_goal_is_celebrated_above_its_expected_answers(browser, rater):
    Project.objects.update(daily_goal=1, check_rate=1, check_feedback=True)
    make_summary(rater.project)
    make_gold(rater.project)
    page = rate_next_by_hand(browser, rater, follow=True)
    assert "Hidden check" in page
    assert "You have reached today’s goal of 1. Thank you." in page


def test_the_page_without_further_summaries_says_that_the_goal_is_reached(browser, rater):
    Project.objects.update(daily_goal=1)
    make_summary(rater.project)
    page = rate_next_by_hand(browser, rater, follow=True)
    assert "Nothing left to rate" in page
    assert "You rated 1 today and have reached the goal of 1. Thank you." in page
    assert "Saved. You have reached today’s goal of 1." in page


def test_the_daily_count_leaves_out_yesterday(browser, assignment):
    at_stage(assignment, 4)
    Rating.objects.update(completed_at=timezone.now() - timedelta(days=1))
    make_summary(assignment.rater.project)
    page = text_of(browser.get(reverse("rate", args=[assignment.rater.project.slug]), follow=True))
    assert "<b>0</b> of 60 today" in page


def test_the_pages_are_never_cached_by_the_browser(browser, assignment):
    project = assignment.rater.project
    for response in (
        browser.get(reverse("rate", args=[project.slug])),
        browser.get(address(assignment)),
        browser.post(address(assignment), sheet(1, FIRST), headers=HTMX),
        browser.post(address(assignment, "rate_draft"), sheet(2, SECOND)),
    ):
        assert "no-store" in response.headers["Cache-Control"]


# ---- drafts and comments


def test_a_draft_is_filled_in_on_the_next_visit_and_marked_as_saved(browser, assignment):
    at_stage(assignment, 2)
    draft = sheet(2, {"grammar": "unsure"}, grammar="A comma.")
    assert browser.post(address(assignment, "rate_draft"), draft).status_code == 204
    page = text_of(browser.get(address(assignment)))
    assert 'name="answer-grammar" value="unsure" checked' in page
    assert "A comma." in page
    assert page.count('class="saved" role="status" hidden') == 1


def test_a_draft_is_shown_to_its_rater_only_and_goes_when_it_is_emptied(browser, assignment):
    other = make_rater(assignment.rater.project)
    make_summary(assignment.rater.project)
    theirs = address(take_assignment(other))
    empty = text_of(signed_in(other.user).get(theirs))
    browser.post(address(assignment, "rate_draft"), sheet(1, FIRST, comprehensibility="Mine."))
    assert "Mine." in text_of(browser.get(address(assignment)))
    assert "Mine." not in text_of(signed_in(other.user).get(theirs))
    browser.post(address(assignment, "rate_draft"), sheet(1, {}, comprehensibility=""))
    mine = text_of(browser.get(address(assignment)))
    assert "Mine." not in mine
    assert mine.count(" checked") == empty.count(" checked") == 0


def test_a_comment_alone_is_stored_in_the_draft_and_marked_as_saved(browser, assignment):
    browser.post(address(assignment, "rate_draft"), sheet(1, {}, comprehensibility="Half a thought"))
    page = text_of(browser.get(address(assignment)))
    assert "Half a thought" in page
    assert 'class="saved" role="status">' in page


def test_a_draft_stores_no_rating(browser, assignment):
    browser.post(address(assignment, "rate_draft"), sheet(1, FIRST))
    assert not Rating.objects.exists()


def test_a_draft_for_a_stage_that_is_not_open_is_refused_in_plain_text(browser, assignment):
    response = browser.post(address(assignment, "rate_draft"), sheet(2, SECOND))
    assert response.status_code == 409
    assert text_of(response) == "This stage is not open yet."
    assert response.headers["Content-Type"].startswith("text/plain")


def test_a_comment_is_stored_with_its_answer(browser, assignment):
    browser.post(address(assignment), sheet(1, FIRST, comprehensibility="  Hard to say.  "))
    assert Answer.objects.get().comment == "Hard to say."


# ---- flags and skipping


def test_the_article_can_be_flagged_once_it_is_shown(browser, assignment):
    at_stage(assignment, 3)
    response = browser.post(
        address(assignment, "rate_flag"), sheet(3, {"attribution": "no"}) | {"flag": "Cut off."}, headers=HTMX
    )
    assert "Article flagged" in text_of(response)
    assert ArticleFlag.objects.get().reason == "Cut off."


def test_flagging_keeps_the_answers_chosen_so_far(browser, assignment):
    at_stage(assignment, 3)
    response = browser.post(
        address(assignment, "rate_flag"), sheet(3, {"attribution": "no"}) | {"flag": "Cut off."}, follow=True
    )
    assert 'name="answer-attribution" value="no" checked' in text_of(response)


def test_a_flag_can_be_withdrawn(browser, assignment):
    at_stage(assignment, 3)
    browser.post(address(assignment, "rate_flag"), sheet(3, {}) | {"flag": "Cut off."})
    browser.post(address(assignment, "rate_flag"), sheet(3, {}) | {"flag": "Cut off.", "withdraw": "yes"})
    assert not ArticleFlag.objects.exists()


@pytest.mark.parametrize("stage", [1, 2])
def test_the_article_cannot_be_flagged_before_it_is_shown(browser, assignment, stage):
    at_stage(assignment, stage)
    response = browser.post(address(assignment, "rate_flag"), sheet(stage, {}) | {"flag": "Cut off."})
    assert response.status_code == 403
    assert not ArticleFlag.objects.exists()


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_skipped_summary_goes_to_another_rater_and_the_next_one_opens(browser, assignment, headers):
    make_summary(assignment.rater.project, text="THE NEXT ONE.")
    response = browser.post(
        address(assignment, "rate_skip"), sheet(1, {}) | {"reason": "text"}, headers=headers, follow=True
    )
    assert "THE NEXT ONE." in text_of(response)
    assert "does not come back to you" in text_of(response)
    assert take_assignment(make_rater(assignment.rater.project)).summary == assignment.summary


def test_a_skipped_summary_cannot_be_submitted(browser, assignment):
    browser.post(address(assignment, "rate_skip"), {"reason": "hard"})
    response = browser.post(address(assignment), sheet(1, FIRST))
    assert response.status_code == 409
    assert not Answer.objects.exists()


@pytest.mark.parametrize("name", ["rate_draft", "rate_flag", "rate_skip"])
def test_changes_need_a_post(browser, assignment, name):
    assert browser.get(address(assignment, name)).status_code == 405


# ---- size


def test_the_page_weighs_less_than_150_kb_with_its_files(browser, assignment, settings):
    at_stage(assignment, 3)
    page = browser.get(address(assignment))
    files = [settings.BASE_DIR / "static" / name for name in ("css/base.css", "css/rate.css", "js/rate.js")]
    htmx = 52_000  # bytes; django-htmx's minified htmx 2
    assert len(page.content) + sum(file.stat().st_size for file in files) + htmx < 150_000
    assert "//" not in text_of(page).replace("http://www.w3.org/2000/svg", ""), "no outside requests"


def test_a_flag_after_new_guidelines_is_kept_and_its_rater_sent_to_them(browser, assignment):
    at_stage(assignment, 3)
    publish_guidelines(assignment.rater.project)
    sent = {"stage": 3, "flag": "It is a list of links."}
    response = browser.post(address(assignment, "rate_flag"), sent, headers=HTMX)
    assert response.headers["HX-Redirect"] == reverse("guidelines", args=[assignment.rater.project.slug])
    assert ArticleFlag.objects.get().reason == "It is a list of links."
