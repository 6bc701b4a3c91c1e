"""The manager's pages: drafts, preview, publishing, versions and confirmations."""

import pytest
from django.urls import reverse

from annotation.guidelines.following import confirm_guidelines
from annotation.guidelines.versions import draft_in, save_draft, start_draft
from annotation.models import GuidelinesVersion, Project
from annotation.rating.assigning import take_assignment
from tests.annotation.rating.rating_steps import HTMX, at_stage, signed_in, text_of
from tests.factories import (
    make_article,
    make_member,
    make_rater,
    make_summary,
    publish_guidelines,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(manager):
    return signed_in(manager)


def address(project, name="guidelines_settings", *args):
    return reverse(name, args=[project.slug, *args])


def test_a_manager_starts_edits_and_publishes_guidelines(browser, project):
    make_article(project)
    assert "No guidelines yet" in text_of(browser.get(address(project)))
    start = {"language": "en", "start": "touchstone"}
    page = browser.post(address(project), start, follow=True)
    assert "## Attribution" in text_of(page)
    saves = draft_in(project, "en").saves
    sent = {"text": "Rate\r\nwell.", "changes": "", "saves": saves, "publish": "yes"}
    page = browser.post(address(project, "guidelines_draft", "en"), sent, follow=True)
    assert "Publish version 1 in English?" in text_of(page)
    assert "No section for: Comprehensible" in text_of(page)
    saves = draft_in(project, "en").saves
    page = browser.post(address(project, "guidelines_publish", "en"), {"saves": saves}, follow=True)
    assert "Version 1 published in English." in text_of(page)
    assert GuidelinesVersion.objects.get().text == "Rate\nwell."


def test_the_preview_shows_unsaved_text_and_what_is_missing_and_stores_nothing(browser, project, manager):
    make_article(project)
    draft = start_draft(project, manager, "en", "Kept.")
    sent = {
        "text": "## Grammatical\n### Yes\n> Fine.\n<script>x</script>",
        "changes": "",
        "saves": draft.saves,
    }
    response = browser.post(address(project, "guidelines_draft", "en"), sent, headers=HTMX)
    shown = text_of(response)
    assert "<html" not in shown
    assert '<section class="example yes">' in shown
    assert "none for No" in shown
    assert "no section" in shown
    assert "<script" not in shown
    assert draft_in(project, "en").text == "Kept."


def test_a_text_that_somebody_else_overtook_stays_on_the_page(browser, project, manager):
    opened = start_draft(project, manager, "en", "").saves
    save_draft(project, make_member(project, "manager"), "en", "Theirs.", "", opened)
    sent = {"text": "Mine, at length.", "changes": "", "saves": opened}
    response = browser.post(address(project, "guidelines_draft", "en"), sent)
    assert response.status_code == 422
    assert "saved this draft after you opened it" in text_of(response)
    assert "Mine, at length." in text_of(response)
    assert draft_in(project, "en").text == "Theirs."


def test_publishing_shows_the_changes_the_raters_and_the_refusal(browser, project, manager):
    rater = make_rater(project)
    confirm_guidelines(rater, [publish_guidelines(project, "One rule.").pk])
    draft = start_draft(project, manager, "en", "Two rules.")
    publish = address(project, "guidelines_publish", "en")
    page = text_of(browser.get(publish))
    assert "<b>1 rater</b> must confirm it" in page
    assert "removed: </span>One rule</del>" in page
    refused = browser.post(publish, {"saves": draft.saves})
    assert refused.status_code == 422
    assert "Say what changed." in text_of(refused)
    assert draft_in(project, "en").number is None


def test_a_draft_is_discarded_after_confirmation(browser, project, manager):
    saves = start_draft(project, manager, "en", "Away.").saves
    discard = address(project, "guidelines_discard", "en")
    assert "Discard the draft in English?" in text_of(browser.get(discard))
    browser.post(discard, {"saves": saves})
    assert not GuidelinesVersion.objects.exists()


def test_the_list_shows_confirmations_and_ratings_by_version(browser, project):
    make_summary(project)
    rater, waiting = make_rater(project), make_rater(project)
    confirm_guidelines(rater, [publish_guidelines(project).pk])
    at_stage(take_assignment(rater), 4)
    page = text_of(browser.get(address(project)))
    assert "1 of 2 raters have confirmed version 1" in page
    assert waiting.pseudonym in page
    assert '<td class="number">1</td>' in page


def test_the_default_language_can_be_chosen_among_the_projects(browser, project):
    make_article(project, language="de")
    set_default = address(project, "guidelines_default")
    assert "Default language: German." in text_of(
        browser.post(set_default, {"default_language": "de"}, follow=True)
    )
    assert "not changed" in text_of(browser.post(set_default, {"default_language": "xx"}, follow=True))
    assert Project.objects.get(pk=project.pk).default_language == "de"


def test_managers_and_researchers_read_published_versions(project):
    publish_guidelines(project, "One rule.")
    publish_guidelines(project, "Two rules.", changes="A second rule.")
    for role in ("manager", "researcher"):
        browser = signed_in(make_member(project, role))
        page = text_of(browser.get(address(project, "guidelines_version", "en", 2)))
        assert "A second rule." in page
        assert "added: </span>Two rules</ins>" in page
    assert browser.get(address(project, "guidelines_version", "en", 3)).status_code == 404


def test_the_summary_page_names_the_guidelines_of_each_rating(browser, project):
    make_summary(project)
    rater = make_rater(project)
    confirm_guidelines(rater, [publish_guidelines(project).pk])
    assignment = at_stage(take_assignment(rater), 4)
    page = text_of(browser.get(address(project, "summary", assignment.summary_id)))
    assert address(project, "guidelines_version", "en", 1) in page
