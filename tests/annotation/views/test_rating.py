"""The rating page through its addresses: the way through the stages, and everything it refuses."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import protocol
from annotation.actions.assigning import take_assignment
from annotation.actions.people import remove_rater, suspend_rater
from annotation.actions.rating import GivenAnswer, submit_stage
from annotation.models import Answer, ArticleFlag, Assignment, Rating
from tests.factories import make_article, make_member, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db

FIRST = {"comprehensibility": "yes"}
SECOND = {"repetition": "yes", "grammar": "no"}
THIRD = {"attribution": "yes", "main_ideas": "unsure", "conciseness": "no"}
HTMX = {"HX-Request": "true"}


def sheet(stage, answers, **comments):
    return (
        {"stage": stage}
        | {f"answer-{key}": value for key, value in answers.items()}
        | {f"comment-{key}": text for key, text in comments.items()}
    )


def address(assignment, name="rate_item"):
    return reverse(name, args=[assignment.rater.project.slug, assignment.pk])


def signed_in(user, **options):
    client = Client(**options)
    client.force_login(user)
    return client


def at_stage(assignment, stage):
    for number, answers in ((1, FIRST), (2, SECOND), (3, THIRD)):
        if number < stage:
            given = {key: GivenAnswer(value) for key, value in answers.items()}
            submit_stage(assignment.rater, assignment.pk, number, given)
    assignment.refresh_from_db()
    return assignment


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def rater(project):
    return make_rater(project)


@pytest.fixture
def browser(rater):
    return signed_in(rater.user)


@pytest.fixture
def assignment(project, rater):
    article = make_article(project, title="THE TITLE", text="THE ARTICLE.")
    make_summary(project, article=article, text="THE SUMMARY.", shuffle_key=0)
    return take_assignment(rater)


def text_of(response):
    return response.content.decode()


# ---- the way through the stages


def test_the_queue_leads_to_the_open_summary(browser, assignment):
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
def test_texts_say_their_language_and_direction(language, direction):
    project = make_project(protocol.SUMMEVAL)
    rater = make_rater(project, languages=[language])
    make_summary(project, language=language)
    page = text_of(signed_in(rater.user).get(address(take_assignment(rater))))
    assert page.count(f'lang="{language}" dir="{direction}"') == 2


def test_submitting_a_stage_by_htmx_answers_with_the_next_stage_alone(browser, assignment):
    response = browser.post(address(assignment), sheet(1, FIRST), headers=HTMX)
    assert response.status_code == 200
    assert 'name="answer-repetition"' in text_of(response)
    assert "<html" not in text_of(response)


def test_submitting_a_stage_plainly_leads_back_to_the_page(browser, assignment):
    response = browser.post(address(assignment), sheet(1, FIRST))
    assert response.status_code == 302
    assert 'name="answer-repetition"' in text_of(browser.get(response.headers["Location"]))


def test_submitting_the_last_stage_answers_with_the_next_summary(browser, assignment):
    following = make_summary(assignment.rater.project, text="THE NEXT ONE.")
    response = browser.post(address(at_stage(assignment, 3)), sheet(3, THIRD), headers=HTMX)
    page = text_of(response)
    assert "THE NEXT ONE." in page
    assert 'name="answer-comprehensibility"' in page
    assert "THE ARTICLE." not in page
    assert "Saved. Rating 1 of 60 today." in page
    assert reverse("history_rating", args=[assignment.rater.project.slug, assignment.rating.pk]) in page
    assert response.headers["HX-Replace-Url"] == address(Assignment.objects.get(summary=following))


def test_submitting_the_last_stage_plainly_leads_to_the_next_summary(browser, assignment):
    make_summary(assignment.rater.project, text="THE NEXT ONE.")
    response = browser.post(address(at_stage(assignment, 3)), sheet(3, THIRD), follow=True)
    assert "THE NEXT ONE." in text_of(response)
    assert "Saved. Rating 1 of 60 today." in text_of(response)


def test_an_answer_that_ends_the_rating_leads_to_the_next_summary_at_once(browser, assignment):
    make_summary(assignment.rater.project, text="THE NEXT ONE.")
    response = browser.post(address(assignment), sheet(1, {"comprehensibility": "no"}), headers=HTMX)
    assert "THE NEXT ONE." in text_of(response)
    assert Rating.objects.get().completed_at is not None


def test_after_the_last_summary_the_page_says_that_nothing_is_left(browser, assignment):
    response = browser.post(address(at_stage(assignment, 3)), sheet(3, THIRD), follow=True)
    assert "Nothing left to rate" in text_of(response)
    assert "You rated 1 today" in text_of(response)


def test_after_the_last_summary_htmx_is_sent_to_the_queue(browser, assignment):
    response = browser.post(address(at_stage(assignment, 3)), sheet(3, THIRD), headers=HTMX)
    assert response.headers["HX-Redirect"] == reverse("rate", args=[assignment.rater.project.slug])


def test_beyond_the_days_share_the_count_goes_on(browser, assignment):
    project = assignment.rater.project
    project.daily_goal = 0
    project.save()
    make_summary(project)
    response = browser.post(address(assignment), sheet(1, {"comprehensibility": "no"}), headers=HTMX)
    assert "Saved. Rating 1 today; 0 were asked for." in text_of(response)


def test_the_count_of_today_leaves_out_yesterday(browser, assignment):
    at_stage(assignment, 4)
    Rating.objects.update(completed_at=timezone.now() - timedelta(days=1))
    make_summary(assignment.rater.project)
    page = text_of(browser.get(reverse("rate", args=[assignment.rater.project.slug]), follow=True))
    assert "<b>0</b> of 60 today" in page


def test_the_pages_are_never_stored_by_the_browser(browser, assignment):
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


def test_a_draft_stores_no_rating(browser, assignment):
    browser.post(address(assignment, "rate_draft"), sheet(1, FIRST))
    assert not Rating.objects.exists()


def test_a_draft_for_a_stage_that_is_not_open_is_refused_in_plain_words(browser, assignment):
    response = browser.post(address(assignment, "rate_draft"), sheet(2, SECOND))
    assert response.status_code == 409
    assert text_of(response) == "This stage is not open."
    assert response.headers["Content-Type"].startswith("text/plain")


def test_a_comment_is_stored_with_its_answer(browser, assignment):
    browser.post(address(assignment), sheet(1, FIRST, comprehensibility="  Hard to say.  "))
    assert Answer.objects.get().comment == "Hard to say."


# ---- invalid answers


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_missing_answer_is_asked_for_beside_its_question_and_nothing_is_lost(browser, assignment, headers):
    at_stage(assignment, 2)
    sent = sheet(2, {"repetition": "no"}, grammar="Half a thought")
    response = browser.post(address(assignment), sent, headers=headers)
    page = text_of(response)
    assert response.status_code == 422
    assert 'id="error-grammar" role="alert">Please answer this question.' in page
    assert 'id="error-repetition" role="alert"></p>' in page
    assert 'name="answer-repetition" value="no" checked' in page
    assert "Half a thought" in page
    assert Answer.objects.count() == 1
    assert page.count('class="saved" role="status" hidden') == 2, "what was refused is not saved"


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
    assert "at most 2000 fit" in text_of(response)
    assert "x" * 2001 in text_of(response)


@pytest.mark.parametrize("stage", ["", "one", "-1"])
def test_a_form_that_does_not_name_its_stage_is_refused(browser, assignment, stage):
    assert browser.post(address(assignment), {"stage": stage}).status_code == 400


# ---- locked stages, lost leases, double submits


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_locked_stage_with_other_answers_is_refused_with_the_way_on(browser, assignment, headers):
    at_stage(assignment, 2)
    response = browser.post(address(assignment), sheet(1, {"comprehensibility": "no"}), headers=headers)
    assert response.status_code == 409
    assert "These answers are locked" in text_of(response)
    assert reverse("rate", args=[assignment.rater.project.slug]) in text_of(response)
    assert Answer.objects.get().value == "yes"


def test_a_refusal_leaves_the_answers_on_the_page(browser, assignment):
    at_stage(assignment, 2)
    response = browser.post(address(assignment), sheet(1, {"comprehensibility": "no"}), headers=HTMX)
    assert response.headers["HX-Retarget"] == "#trouble"
    assert response.headers["HX-Reswap"] == "innerHTML"
    assert "<form" not in text_of(response)


def test_a_stage_that_is_not_open_yet_is_refused(browser, assignment):
    response = browser.post(address(assignment), sheet(3, THIRD))
    assert response.status_code == 409
    assert "not open yet" in text_of(response)


def test_sending_a_stage_twice_stores_it_once_and_goes_on(browser, assignment):
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
def test_an_expired_lease_that_another_has_taken_is_refused_with_the_way_on(browser, assignment, headers):
    expire(assignment)
    other = take_assignment(make_rater(assignment.rater.project))
    assert other.summary == assignment.summary
    response = browser.post(address(assignment), sheet(1, FIRST), headers=headers)
    assert response.status_code == 409
    assert "ran out and it went back to the pool" in text_of(response)
    assert not Answer.objects.exists()


def test_an_expired_lease_is_not_shown_any_more(browser, assignment):
    expire(assignment)
    take_assignment(make_rater(assignment.rater.project))
    response = browser.get(address(assignment))
    assert response.status_code == 409
    assert "THE SUMMARY." not in text_of(response)


def test_a_lease_that_nobody_has_taken_can_still_be_submitted(browser, assignment):
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
def test_anothers_summary_is_refused_like_one_that_does_not_exist(assignment, name):
    other = signed_in(make_rater(assignment.rater.project).user)
    refused = other.post(address(assignment, name), sheet(1, FIRST))
    absent = other.post(reverse(name, args=[assignment.rater.project.slug, 999_999]), sheet(1, FIRST))
    assert refused.status_code == absent.status_code == 409
    assert "There is no such summary with you." in text_of(refused)
    assert "There is no such summary with you." in text_of(absent)


def test_anothers_summary_cannot_be_opened(assignment):
    response = signed_in(make_rater(assignment.rater.project).user).get(address(assignment))
    assert response.status_code == 409
    assert "THE SUMMARY." not in text_of(response)


@pytest.mark.parametrize("name", ["rate_item", "rate_draft", "rate_flag", "rate_skip"])
def test_an_annotator_of_another_project_finds_nothing(assignment, name):
    stranger = signed_in(make_rater(make_project()).user)
    assert stranger.post(address(assignment, name), sheet(1, FIRST)).status_code == 404


@pytest.mark.parametrize("role", ["manager", "researcher"])
def test_who_is_not_an_annotator_may_not_rate(project, role):
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


def test_a_suspended_rater_gets_a_page_that_says_so(browser, assignment):
    suspend_rater(assignment.rater)
    response = browser.get(reverse("rate", args=[assignment.rater.project.slug]))
    assert response.status_code == 403
    assert "is suspended" in text_of(response)


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_suspended_rater_can_neither_see_nor_submit(browser, assignment, headers):
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


def test_a_removed_rater_is_told_so(browser, assignment):
    remove_rater(assignment.rater)
    response = browser.get(reverse("rate", args=[assignment.rater.project.slug]))
    assert response.status_code == 404
    assert "any more" in text_of(response)


def test_forms_without_the_csrf_token_are_refused(assignment):
    client = signed_in(assignment.rater.user, enforce_csrf_checks=True)
    for name in ("rate_item", "rate_draft", "rate_flag", "rate_skip"):
        assert client.post(address(assignment, name), sheet(1, FIRST)).status_code == 403
    assert not Answer.objects.exists()
    token = client.get(address(assignment)).context["csrf_token"]
    sent = sheet(1, FIRST) | {"csrfmiddlewaretoken": str(token)}
    assert client.post(address(assignment), sent).status_code == 302


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


def test_a_flag_can_be_taken_back(browser, assignment):
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
def test_a_skipped_summary_goes_to_another_and_the_next_one_comes(browser, assignment, headers):
    make_summary(assignment.rater.project, text="THE NEXT ONE.")
    response = browser.post(address(assignment, "rate_skip"), sheet(1, {}), headers=headers, follow=True)
    assert "THE NEXT ONE." in text_of(response)
    assert "does not come back to you" in text_of(response)
    assert take_assignment(make_rater(assignment.rater.project)).summary == assignment.summary


def test_a_skipped_summary_cannot_be_submitted(browser, assignment):
    browser.post(address(assignment, "rate_skip"))
    response = browser.post(address(assignment), sheet(1, FIRST))
    assert response.status_code == 409
    assert not Answer.objects.exists()


@pytest.mark.parametrize("name", ["rate_draft", "rate_flag", "rate_skip"])
def test_nothing_changes_by_get(browser, assignment, name):
    assert browser.get(address(assignment, name)).status_code == 405


# ---- cost


def test_the_page_weighs_less_than_150_kb_with_its_files(browser, assignment, settings):
    at_stage(assignment, 3)
    page = browser.get(address(assignment))
    files = [settings.BASE_DIR / "static" / name for name in ("css/base.css", "css/rate.css", "js/rate.js")]
    htmx = 52_000  # bytes; django-htmx's minified htmx 2
    assert len(page.content) + sum(file.stat().st_size for file in files) + htmx < 150_000
    assert "//" not in text_of(page).replace("http://www.w3.org/2000/svg", ""), "no outside requests"
