"""Who may submit a stage by htmx, where one statement finds session, person and desk."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.models import Answer, Session
from annotation.people.members import remove_rater, suspend_rater
from annotation.projects.archiving import archive_project
from tests.annotation.rating.rating_steps import FIRST, HTMX, address, sheet, signed_in, text_of
from tests.factories import make_member, make_project, make_rater

pytestmark = pytest.mark.django_db


def submit(browser, assignment):
    return browser.post(address(assignment), sheet(1, FIRST), headers=HTMX)


def test_a_session_names_its_user_once_they_have_signed_in(rater):
    browser = Client()
    browser.get("/sign-in/")
    assert not Session.objects.exists()
    browser.force_login(rater.user)
    assert Session.objects.get().user == rater.user


def test_a_stage_marks_its_session_as_seen(rater, assignment):
    browser = signed_in(rater.user)
    long_ago = timezone.now() - timedelta(hours=1)
    Session.objects.update(seen_at=long_ago)
    submit(browser, assignment)
    assert Session.objects.get().seen_at > long_ago


def deactivate(browser: Client, user: User) -> None:
    user.is_active = False
    user.save()


def change_password(browser: Client, user: User) -> None:
    user.set_password("another password")
    user.save()


def expire(browser: Client, user: User) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))


def sign_out(browser: Client, user: User) -> None:
    key = browser.cookies["sessionid"].value
    browser.post("/sign-out/")
    browser.cookies["sessionid"] = key  # somebody has copied it


def forge(browser: Client, user: User) -> None:
    """Give the rater's user to a session that somebody else has signed in."""
    other = Client()
    other.force_login(make_rater(make_project()).user)
    key = other.cookies["sessionid"].value
    Session.objects.filter(pk=key).update(user=user)
    browser.cookies["sessionid"] = key


def break_data(browser: Client, user: User) -> None:
    Session.objects.update(session_data="not what was signed")


@pytest.mark.parametrize("ends", [deactivate, change_password, expire, sign_out, break_data])
def test_whoever_is_no_longer_signed_in_is_sent_to_sign_in(browser, assignment, ends):
    assert submit(browser, assignment).status_code == 200
    ends(browser, assignment.rater.user)
    response = submit(browser, assignment)
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/sign-in/")
    assert Answer.objects.count() == 1


def test_a_session_whose_column_and_data_differ_belongs_to_its_data(browser, assignment):
    forge(browser, assignment.rater.user)
    response = submit(browser, assignment)
    assert response.status_code == 404
    assert not Answer.objects.exists()


@pytest.mark.parametrize(
    ("happens", "status", "message"),
    [
        (remove_rater, 404, "You are no longer a member"),
        (suspend_rater, 403, "You are suspended"),
        (
            lambda rater: archive_project(rater.project, make_member(rater.project, "manager")),
            403,
            "it is read-only",
        ),
    ],
)
def test_whoever_may_not_rate_is_told_why(browser, assignment, happens, status, message):
    happens(assignment.rater)
    response = submit(browser, assignment)
    assert response.status_code == status
    assert message in text_of(response)
    assert not Answer.objects.exists()


def test_a_stranger_to_the_project_does_not_learn_of_it(assignment):
    stranger = make_rater(make_project())
    response = submit(signed_in(stranger.user), assignment)
    assert response.status_code == 404
    assert assignment.rater.project.name not in text_of(response)
