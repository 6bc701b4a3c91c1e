"""The guidelines page, and where raters are sent to it."""

import pytest
from django.urls import reverse

from annotation.guidelines.following import confirm_guidelines
from annotation.models import Answer, Rater
from annotation.rating.assigning import take_assignment
from tests.annotation.rating.rating_steps import (
    HTMX,
    SECOND,
    address,
    at_stage,
    sheet,
    signed_in,
    text_of,
)
from tests.factories import (
    make_article,
    make_gold,
    make_rater,
    make_summary,
    publish_guidelines,
)

pytestmark = pytest.mark.django_db

TEXT = "## Grammatical\n### In German {lang=de}\n> Der Hafen.\n\n### In English {lang=en}\n> The harbour.\n"


@pytest.fixture
def browser(rater):
    return signed_in(rater.user)


@pytest.fixture
def page(project):
    return reverse("guidelines", args=[project.slug])


@pytest.fixture
def queue(project):
    return reverse("rate", args=[project.slug])


def test_without_guidelines_no_page_mentions_them(browser, project, page, queue):
    make_summary(project)
    assert page not in text_of(browser.get(queue, follow=True)).partition("<main")[0]
    assert "There are no guidelines" in text_of(browser.get(page))


def test_a_rater_reads_confirms_and_rates(browser, rater, project, page, queue):
    make_summary(project, text="THE SUMMARY.")
    version = publish_guidelines(project, TEXT)
    first = browser.get(queue, follow=True)
    assert first.redirect_chain == [(page, 302)]
    shown = text_of(first)
    assert "The harbour." in shown
    assert "Der Hafen." not in shown
    assert "I have read the guidelines" in shown
    confirmed = browser.post(page, {"version": version.pk}, follow=True)
    assert "THE SUMMARY." in text_of(confirmed)
    assert page in text_of(confirmed)
    assert "I have read" not in text_of(browser.get(page))


def test_a_newcomer_reads_before_the_round_is_introduced(project, page, queue):
    make_gold(project)
    newcomer = make_rater(project, status=Rater.Status.TRAINING)
    browser = signed_in(newcomer.user)
    version = publish_guidelines(project)
    assert browser.get(queue).headers["Location"] == page
    start = reverse("round_start", args=[project.slug])
    assert browser.post(start).headers["Location"] == page
    assert not newcomer.rounds.exists()
    browser.post(page, {"version": version.pk})
    assert "Start round" in text_of(browser.get(queue))


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_answers_submitted_after_a_new_version_are_kept_as_a_draft(browser, rater, project, page, headers):
    make_summary(project)
    assignment = at_stage(take_assignment(rater), 2)
    version = publish_guidelines(project)
    response = browser.post(address(assignment), sheet(2, SECOND), headers=headers)
    assert response.headers["HX-Redirect" if headers else "Location"] == page
    assert Answer.objects.count() == 1
    assert "Your answers are saved as a draft" in text_of(browser.get(page))
    back = text_of(browser.post(page, {"version": version.pk}, follow=True))
    assert 'name="answer-grammar" value="no" checked' in back


def test_a_refused_correction_stays_on_the_page(browser, rater, project):
    make_summary(project)
    rating = at_stage(take_assignment(rater), 4).rating
    publish_guidelines(project)
    sent = {"answer-grammar": "yes", "comment-grammar": "It is fine."}
    response = browser.post(
        reverse("history_correct", args=[project.slug, rating.pk, "grammar"]), sent, follow=True
    )
    assert response.status_code == 422
    assert "It is fine." in text_of(response)
    assert "before you rate. Open Guidelines." in text_of(response)


def test_a_new_version_says_what_changed_since_the_confirmed_one(browser, rater, project, page):
    confirm_guidelines(rater, [publish_guidelines(project, "One rule.").pk])
    publish_guidelines(project, "Two rules.", changes="A second rule.")
    shown = text_of(browser.get(page))
    assert "<b>What changed:</b> A second rule." in shown
    assert "removed: </span>One rule</del>" in shown


def test_confirming_an_outdated_page_shows_the_new_version(browser, rater, project, page):
    old = publish_guidelines(project)
    publish_guidelines(project, "Newer.")
    shown = text_of(browser.post(page, {"version": old.pk}, follow=True))
    assert "have changed since you opened them" in shown
    assert "Newer." in shown
    assert not rater.confirmations.exists()


def test_a_rater_of_two_languages_confirms_both_versions_on_one_page(project, page):
    english, german = publish_guidelines(project, TEXT), publish_guidelines(project, "Lies.", "de")
    rater = make_rater(project, languages=["de", "en", "tr"])
    browser = signed_in(rater.user)
    shown = text_of(browser.get(page))
    assert "For summaries in German" in shown
    assert "For summaries in English and Turkish" in shown
    assert "The harbour." in shown
    assert "Der Hafen." not in shown, "the English version is not for German summaries"
    browser.post(page, {"version": [english.pk, german.pk]})
    assert rater.confirmations.count() == 2


def test_the_dialog_gets_the_part_for_the_summarys_language(browser, rater, project, page):
    confirm_guidelines(rater, [publish_guidelines(project, TEXT).pk])
    make_summary(project, article=make_article(project, text="THE ARTICLE."))
    assert 'data-language="en"' in text_of(browser.get(address(take_assignment(rater))))
    part = text_of(browser.get(page, {"language": "en"}, headers=HTMX))
    assert "<html" not in part
    assert "The harbour." in part
    assert "Der Hafen." not in part
