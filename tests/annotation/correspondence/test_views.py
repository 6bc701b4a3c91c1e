import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import escape

from annotation.correspondence.messages import MESSAGES_A_DAY, write_to_managers, write_to_rater
from annotation.models import Rater, RaterMessage
from annotation.people.members import remove_rater, suspend_rater
from annotation.progress.progress import progress_version
from annotation.rating.assigning import take_assignment
from tests.annotation.rating.rating_steps import FIRST, HTMX, address, sheet, signed_in
from tests.factories import make_member, make_rater, make_summary

pytestmark = pytest.mark.django_db

UNREAD = '<b class="unread">{}<span class="visually-hidden"> unread</span></b>'
MARKUP = "<script>alert(1)</script>"


@pytest.fixture
def rater(project) -> Rater:
    return make_rater(project)


def page_of(user, name: str, project, *ids: int, **query: object) -> str:
    response = signed_in(user).get(reverse(name, args=[project.slug, *ids]), query)
    assert response.status_code == 200
    return response.content.decode()


def test_the_navigation_counts_unread_messages_until_they_are_opened(project, manager, rater):
    assert 'class="unread"' not in page_of(rater.user, "history", project)
    for text in ("Welcome.", "Please read the guidelines."):
        write_to_rater(manager, rater, text)
    write_to_managers(rater.user, rater, "Thank you.")
    write_to_rater(manager, make_rater(project), "Another rater's.")
    assert UNREAD.format(2) in page_of(rater.user, "history", project)
    opened = page_of(rater.user, "own_messages", project)
    assert opened.count('<span class="tag busy">new</span>') == 2
    assert 'class="unread"' not in opened
    assert ">new<" not in page_of(rater.user, "own_messages", project)


def test_raters_see_neither_managers_names_nor_other_correspondence(project, manager, rater):
    write_to_rater(manager, rater, "Welcome.")
    write_to_rater(manager, make_rater(project), "For the other rater.")
    page = page_of(rater.user, "own_messages", project)
    assert "<b>Manager</b>" in page
    assert manager.username not in page
    assert "For the other rater." not in page


def test_texts_are_escaped_paragraphs_in_their_own_direction(project, manager, rater):
    write_to_managers(rater.user, rater, f"{MARKUP}\n\nA second line.")
    for page in (
        page_of(rater.user, "own_messages", project),
        page_of(manager, "rater_messages", project, rater.pk),
    ):
        assert MARKUP not in page
        assert f"<p>{escape(MARKUP)}</p>" in page
        assert "<p>A second line.</p>" in page
        assert '<div class="message-text" dir="auto">' in page


def test_a_rater_writes_and_managers_see_it_until_one_opens_it(project, manager, rater):
    target = reverse("own_messages", args=[project.slug])
    before = progress_version(project)
    sent = signed_in(rater.user).post(target, {"text": "The article is cut off."}, follow=True)
    assert "Message sent to the managers." in sent.content.decode()
    assert progress_version(project) != before
    link = reverse("rater_messages", args=[project.slug, rater.pk])
    assert "1 unread" in page_of(manager, "people", project)
    assert "1 message of a rater is unread" in page_of(manager, "progress", project)
    assert link in page_of(manager, "progress", project)
    opened = page_of(manager, "rater_messages", project, rater.pk)
    assert "The article is cut off." in opened
    assert "1 unread" not in page_of(manager, "people", project)
    assert link not in page_of(manager, "progress", project)
    assert progress_version(project) == before


def test_researchers_are_not_told_of_messages(project, rater):
    write_to_managers(rater.user, rater, "Hello")
    assert "is unread" not in page_of(make_member(project, "researcher"), "progress", project)


def test_managers_answer_and_see_who_of_them_wrote(project, manager, rater):
    target = reverse("rater_messages", args=[project.slug, rater.pk])
    sent = signed_in(manager).post(target, {"text": "I imported it again."}, follow=True)
    page = sent.content.decode()
    assert f"Message sent to {rater.pseudonym}." in page
    assert f"<b>{manager.username}</b>" in page


def test_a_refused_message_stays_in_the_form(project, rater):
    for _ in range(MESSAGES_A_DAY):
        write_to_managers(rater.user, rater, "Hello")
    target = reverse("own_messages", args=[project.slug])
    response = signed_in(rater.user).post(target, {"text": "One more."})
    assert response.status_code == 422
    assert "20 messages today" in response.content.decode()
    assert "One more.</textarea>" in response.content.decode()
    assert signed_in(rater.user).post(target, {"text": " "}).status_code == 422


def test_suspended_raters_are_led_to_the_page_and_write_there(project, rater):
    suspend_rater(rater)
    target = reverse("own_messages", args=[project.slug])
    browser = signed_in(rater.user)
    refused = browser.get(reverse("rate", args=[project.slug]))
    assert f'href="{target}">Write to managers' in refused.content.decode()
    assert browser.post(target, {"text": "Why?"}).status_code == 302
    assert rater.messages.get().text == "Why?"


def test_a_removed_rater_has_a_page_without_a_form(project, manager, rater):
    write_to_managers(rater.user, rater, "Goodbye.")
    remove_rater(rater)
    page = page_of(manager, "rater_messages", project, rater.pk)
    assert "Goodbye." in page
    assert "<textarea" not in page


def test_pages_mark_only_what_they_show(project, manager, rater):
    for number in range(21):
        write_to_rater(manager, rater, f"Message {number}.")
    assert UNREAD.format(1) in page_of(rater.user, "own_messages", project)
    assert "Message 0." in page_of(rater.user, "own_messages", project, page=2)
    assert not RaterMessage.objects.unread(from_manager=True).exists()


def test_looking_without_reading_marks_nothing(project, manager, rater):
    write_to_rater(manager, rater, "Welcome.")
    signed_in(rater.user).head(reverse("own_messages", args=[project.slug]))
    assert RaterMessage.objects.unread(from_manager=True).count() == 1


def test_a_message_to_all_is_sent_after_its_number_is_confirmed(project, manager):
    raters = [make_rater(project, languages=["de"]) for _ in range(2)]
    make_rater(project)
    target, browser = reverse("messages_to_all", args=[project.slug]), signed_in(manager)
    assert "Raters of German" in browser.get(target).content.decode()
    form = {"text": f"New guidelines. {MARKUP}", "language": "de"}
    asked = browser.post(target, form).content.decode()
    assert "Send this message to 2 raters?" in asked
    assert MARKUP not in asked
    assert not RaterMessage.objects.exists()

    raters.append(make_rater(project, languages=["de"]))
    changed = browser.post(target, {**form, "confirmed": "2"}).content.decode()
    assert "Send this message to 3 raters?" in changed
    assert "<select" in browser.post(target, {**form, "edit": "1"}).content.decode()
    assert not RaterMessage.objects.exists()

    sent = browser.post(target, {**form, "confirmed": "3"}, follow=True).content.decode()
    assert "Message sent to 3 raters." in sent
    assert {each.rater for each in RaterMessage.objects.all()} == {*raters}


def test_a_message_to_all_needs_a_text_a_known_language_and_raters(project, manager):
    target, browser = reverse("messages_to_all", args=[project.slug]), signed_in(manager)
    assert '<form class="card' not in browser.get(target).content.decode()
    make_rater(project)
    for form in ({"text": ""}, {"text": "x" * 2001}, {"text": "Hello", "language": "tr"}):
        assert browser.post(target, {**form, "confirmed": "1"}).status_code == 422
    assert not RaterMessage.objects.exists()


def test_only_full_pages_count_unread_messages_and_by_one_statement(project, manager, rater):
    make_summary(project)
    write_to_rater(manager, rater, "Welcome.")
    browser, assignment = signed_in(rater.user), take_assignment(rater)
    with CaptureQueriesContext(connection) as opened:
        browser.get(address(assignment))
    with CaptureQueriesContext(connection) as submitted:
        browser.post(address(assignment), sheet(1, FIRST), headers=HTMX)
    counts = [sum("ratermessage" in each["sql"] for each in found) for found in (opened, submitted)]
    assert counts == [1, 0]
