"""The sessions on a person's account page, and how each of them ends."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import AuditEntry, Session
from annotation.people.members import remove_member
from annotation.people.own_sessions import browser_in_words
from tests.factories import PASSWORD, make_member, make_project, make_user

pytestmark = pytest.mark.django_db

FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:131.0) Gecko/20100101 Firefox/131.0"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/17.5 Mobile/15E148 Safari/604.1"
)
CHROME = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36"
)


@pytest.fixture
def user():
    return make_user("grace")


def signed_in(user, agent):
    browser = Client(HTTP_USER_AGENT=agent)
    browser.post("/sign-in/", {"username": user.username, "password": PASSWORD})
    return browser


def account(browser):
    return " ".join(browser.get("/account/").content.decode().split())


def is_signed_in(browser):
    return browser.get("/account/").status_code == 200


def addresses(browser):
    """Return where the account page ends a session each."""
    return [
        part.split('"')[0]
        for part in account(browser).split('action="')
        if part.startswith("/account/sessions/") and not part.startswith("/account/sessions/end/")
    ]


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox on Windows"),
        (SAFARI, "Safari on iPhone"),
        (CHROME, "Chrome on Linux"),
        (f"{CHROME} Edg/130.0.0.0", "Edge on Linux"),
        (CHROME.replace("X11; Linux x86_64", "Linux; Android 14; Pixel 8"), "Chrome on Android"),
        ("curl/8.5.0", "Unknown browser"),
        ("", "Unknown browser"),
    ],
)
def test_browsers_are_named_in_words(agent, words):
    assert browser_in_words(agent) == words


def test_the_account_page_lists_where_one_is_signed_in(user):
    computer, _ = signed_in(user, FIREFOX), signed_in(user, SAFARI)
    signed_in(make_user("alan"), CHROME)
    page = account(computer)
    assert "Firefox on Windows <span" in page.split("this session")[0][-60:]
    assert "Safari on iPhone</th>" in page
    assert "Chrome on Linux" not in page
    assert not any(session.pk in page for session in Session.objects.all())


def test_one_session_is_signed_out_and_the_others_stay(user):
    computer, phone, third = (signed_in(user, agent) for agent in (FIREFOX, SAFARI, CHROME))
    assert len(addresses(computer)) == 2
    [ended] = set(addresses(computer)) - set(addresses(phone))
    answer = computer.post(ended, follow=True)
    assert "Signed out: Safari on iPhone." in answer.content.decode()
    assert [is_signed_in(browser) for browser in (computer, phone, third)] == [True, False, True]
    entry = AuditEntry.objects.get(action="session_ended")
    assert (entry.actor, entry.object) == (user, "Safari on iPhone")
    assert computer.post(ended).status_code == 404


def test_signing_out_everywhere_else_keeps_this_session(user):
    computer, phone, third = (signed_in(user, agent) for agent in (FIREFOX, SAFARI, CHROME))
    stranger = signed_in(make_user("alan"), CHROME)
    answer = computer.post("/account/sessions/end/", follow=True)
    assert "Signed out of 2 other sessions." in answer.content.decode()
    browsers = (computer, phone, third, stranger)
    assert [is_signed_in(browser) for browser in browsers] == [True, False, False, True]
    assert "Sign out everywhere else" not in account(computer)


def test_sessions_of_others_and_ones_own_current_one_are_not_ended_by_address(user):
    computer, phone = signed_in(user, FIREFOX), signed_in(user, SAFARI)
    [own] = addresses(phone)
    assert computer.post(own).status_code == 403
    assert signed_in(make_user("alan"), CHROME).post(own).status_code == 404
    assert is_signed_in(computer)


def test_last_seen_is_recorded_to_ten_minutes_and_not_by_being_listed(user):
    computer, phone = signed_in(user, FIREFOX), signed_in(user, SAFARI)
    recent, long_ago = timezone.now() - timedelta(minutes=9), datetime(2026, 3, 5, 12, tzinfo=UTC)
    mine, theirs = (Session.objects.filter(pk=each.session.session_key) for each in (computer, phone))
    mine.update(seen_at=recent)
    theirs.update(seen_at=long_ago)
    assert "5 Mar 2026, 12:00" in account(computer)
    assert (mine.get().seen_at, theirs.get().seen_at) == (recent, long_ago)
    assert "5 Mar 2026" not in account(phone)
    assert theirs.get().seen_at > recent


def test_sessions_from_before_a_new_password_are_not_listed(user):
    signed_in(user, SAFARI)
    user.set_password(PASSWORD)
    user.save()
    assert "Safari on iPhone" not in account(signed_in(user, FIREFOX))


def test_a_session_from_before_this_was_recorded_is_listed(user):
    computer, old = signed_in(user, FIREFOX), Client()
    old.force_login(user)
    session = old.session
    del session["browser"], session["signed_in_at"]
    session.save()
    assert 'Unknown browser</th> <td class="nowrap">unknown</td>' in account(computer)


def test_a_removed_member_keeps_no_rights_in_an_open_session():
    project = make_project()
    researcher = make_member(project, "researcher")
    browser = Client()
    browser.force_login(researcher)
    assert browser.get(f"/projects/{project.slug}/").status_code == 200
    remove_member(project.memberships.get(user=researcher))
    assert browser.get(f"/projects/{project.slug}/").status_code == 404
