"""New passwords by link: from a manager, from an operator, and by e-mail."""

import re

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import AuditEntry
from annotation.people.api_tokens import issue_api_token
from annotation.people.members import remove_rater
from annotation.people.passwords import password_link
from tests.annotation.rating.rating_steps import text_of
from tests.factories import PASSWORD, make_member, make_project, make_rater, make_user

pytestmark = pytest.mark.django_db

NEW = {"new_password1": "stone-and-gold-24", "new_password2": "stone-and-gold-24"}
ASK = "/password/forgotten/"


@pytest.fixture
def manager(client, project):
    client.force_login(make_member(project, "manager"))
    return client


def link_from(manager, project, user):
    answer = manager.post(f"/projects/{project.slug}/people/accounts/{user.pk}/password-link/")
    found = re.search(r'value="http://testserver(/password/[^"]+)"', answer.content.decode())
    return answer, found and found.group(1)


def choose(link, **form):
    """Open a link as a visitor and submit a new password."""
    visitor = Client()
    page = visitor.get(link, follow=True)
    return visitor.post(page.request["PATH_INFO"], {**NEW, **form}, follow=True)


def test_a_managers_link_sets_a_new_password_once_and_ends_all_sessions_and_tokens(manager, project):
    user = make_rater(project).user
    assert f"/accounts/{user.pk}/password-link/" in text_of(manager.get(f"/projects/{project.slug}/people/"))
    browser = Client()
    browser.force_login(user)
    _, token = issue_api_token(user, "notebook")
    _, link = link_from(manager, project, user)
    visitor = Client()
    for _ in range(6):
        visitor.post("/sign-in/", {"username": user.username, "password": "wrong"})  # blocks the account
    weak = choose(link, new_password1="1234567890", new_password2="1234567890")
    assert "entirely numeric" in text_of(weak)
    assert browser.get("/account/").status_code == 200
    assert "Password changed" in text_of(choose(link))
    assert browser.get("/account/").status_code == 302
    signed_in = visitor.post("/sign-in/", {"username": user.username, "password": NEW["new_password1"]})
    assert signed_in.status_code == 302
    assert "This link does not work" in text_of(Client().get(link, follow=True))
    bearer = {"Authorization": f"Bearer {token}"}
    assert Client().get("/api/schema/", headers=bearer).status_code == 401
    assert project.audit_entries.first().action == "password_link_created"
    assert AuditEntry.objects.get(action="password_reset").actor == user


def test_a_link_stops_working_after_a_day_and_with_the_next_change(manager, project, settings):
    user = make_rater(project).user
    _, link = link_from(manager, project, user)
    settings.PASSWORD_RESET_TIMEOUT = -1
    assert "does not work" in text_of(Client().get(link, follow=True))
    settings.PASSWORD_RESET_TIMEOUT = 60
    user.set_password("another-long-password")
    user.save()
    assert "does not work" in text_of(Client().get(link, follow=True))


def test_a_manager_gets_no_link_to_an_account_that_is_more_than_theirs(manager, project):
    elsewhere = make_rater(project).user
    remove_rater(make_rater(make_project(), user=elsewhere))
    manager_elsewhere = make_rater(project).user
    make_project().memberships.create(user=manager_elsewhere, role="manager")
    closed = make_rater(project).user
    User.objects.filter(pk=closed.pk).update(is_active=False)
    administrator = make_member(project, "researcher")
    User.objects.filter(pk=administrator.pk).update(is_staff=True)
    for user, status, said in (
        (elsewhere, 403, "projects that you do not manage"),
        (administrator, 403, "Only another administrator"),
        (make_member(project, "manager"), 403, "manages a project, so no other manager"),
        (manager_elsewhere, 403, "Ask an administrator for a password link"),
        (closed, 403, "is closed"),
        (make_rater(make_project()).user, 404, "no such person"),
    ):
        answer, link = link_from(manager, project, user)
        assert (answer.status_code, link) == (status, None)
        assert said in text_of(answer)
        page = manager.get(f"/projects/{project.slug}/people/").content.decode()
        assert f"/accounts/{user.pk}/password-link/" not in page
    assert not AuditEntry.objects.filter(action="password_link_created").exists()


def test_a_superuser_who_manages_the_project_gets_a_link_to_its_other_manager(client, project):
    superuser, peer = make_member(project, "manager"), make_member(project, "manager")
    User.objects.filter(pk=superuser.pk).update(is_superuser=True)
    client.force_login(superuser)
    assert f"/accounts/{peer.pk}/password-link/" in text_of(client.get(f"/projects/{project.slug}/people/"))
    answer, link = link_from(client, project, peer)
    assert (answer.status_code, link is not None) == (200, True)


def test_an_operators_command_prints_a_link(capsys):
    user = make_user("ada")
    call_command("password_link", "ada", site="https://rate.example.org/")
    printed = capsys.readouterr().out.strip()
    assert printed.startswith("https://rate.example.org/password/")
    choose(printed.removeprefix("https://rate.example.org"))
    user.refresh_from_db()
    assert user.check_password(NEW["new_password1"])
    with pytest.raises(CommandError, match="no open account 'eve'"):
        call_command("password_link", "eve")


def test_without_a_mail_server_the_page_says_whom_to_ask(client):
    assert "Ask your project's manager" in text_of(client.get(ASK)).replace("&#x27;", "'")
    User.objects.filter(pk=make_user("ada").pk).update(email="ada@example.org")
    client.post(ASK, {"name_or_email": "ada"})
    assert mail.outbox == []


def test_a_link_is_mailed_to_the_accounts_address_with_the_same_answer_for_all(client, settings):
    settings.EMAIL_URL = "smtp://mail.example.org"
    user, closed = make_user("ada"), make_user("closed")
    User.objects.filter(pk=user.pk).update(email="Ada@example.org")
    User.objects.filter(pk=closed.pk).update(email="closed@example.org", is_active=False)
    make_user("without-address")
    answers = {
        text_of(client.post(ASK, {"name_or_email": name}, follow=True)).split("csrf")[0]
        for name in ("ada", "ada@EXAMPLE.org", "closed", "without-address", "nobody")
    }
    assert len(answers) == 1
    assert "a link is on its way" in answers.pop()
    [sent] = mail.outbox  # a second one would have to wait
    assert sent.to == ["Ada@example.org"]
    choose(re.search(r"http://testserver(/password/\S+)", sent.body).group(1))
    user.refresh_from_db()
    assert user.check_password(NEW["new_password1"])


def test_the_address_for_links_changes_with_the_password_only(client):
    user = make_user("ada")
    client.force_login(user)
    refused = client.post("/account/email/", {"email": "eve@example.org", "current_password": "wrong"})
    assert refused.status_code == 422
    assert "This is not your password" in text_of(refused)
    assert User.objects.get(pk=user.pk).email == ""
    client.post("/account/email/", {"email": "ada@example.org", "current_password": PASSWORD})
    assert User.objects.get(pk=user.pk).email == "ada@example.org"
    assert 'value="ada@example.org"' in text_of(client.get("/account/"))


def test_a_link_for_another_account_is_refused():
    ada, eve = make_user("ada"), make_user("eve")
    *_, uid, _, _ = password_link(ada).split("/")
    *_, token, _ = password_link(eve).split("/")
    assert "does not work" in text_of(Client().get(f"/password/{uid}/{token}/", follow=True))
