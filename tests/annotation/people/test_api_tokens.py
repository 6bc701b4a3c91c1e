"""Signing in to the API with a token, tried on an address open to every signed-in user."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from annotation.errors import DomainError, NotAllowed
from annotation.models import ApiToken, AuditEntry, Project
from annotation.people.api_tokens import issue_api_token
from tests.factories import PASSWORD, make_project, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return make_user()


@pytest.fixture
def token(user):
    return issue_api_token(user, "notebook")[1]


def ask(client, header):
    headers = {} if header is None else {"Authorization": header}
    return client.get("/api/projects/", headers=headers)


def test_a_token_signs_its_owner_in(client, user, token):
    project = make_project()
    project.memberships.create(user=user, role="researcher")
    answer = ask(client, f"Bearer {token}")
    assert [row["slug"] for row in answer.json()["results"]] == [project.slug]


@pytest.mark.parametrize("keyword", ["bearer", "BEARER"])
def test_the_keyword_is_read_in_any_case(client, token, keyword):
    assert ask(client, f"{keyword} {token}").status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Bearer {token} {token}",
        "Bearer x{token}",
        "Bearer {token}x",
        "Bearer {stored}",
        "Bearer \x00",
        "Bearer \xff\xfe",
        "Bearer ' OR 1=1 --",
        "Basic {token}",
        "Token {token}",
        "{token}",
    ],
)
def test_it_refuses_every_header_without_an_exact_token(client, token, header):
    stored = ApiToken.objects.get().token_hash
    answer = ask(client, header and header.format(token=token, stored=stored))
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert set(answer.json()) == {"type", "title", "status", "detail"}


def test_it_refuses_a_token_in_the_address_or_a_cookie(client, token):
    client.cookies["token"] = token
    assert client.get(f"/api/projects/?token={token}").status_code == 401


def test_it_refuses_the_token_of_a_deactivated_account(client, user, token):
    user.is_active = False
    user.save()
    assert ask(client, f"Bearer {token}").status_code == 401


def test_it_refuses_an_expired_token_and_says_so(client, token):
    ApiToken.objects.update(expires_at=datetime(2026, 3, 5, 12, tzinfo=UTC))
    answer = ask(client, f"Bearer {token}")
    assert answer.status_code == 401
    expected = "This API token expired on 5 March 2026. Create a new one on your account page."
    assert answer.json()["detail"] == expected


def test_a_token_works_for_the_chosen_days(user):
    token, _ = issue_api_token(user, "notebook", 365)
    assert timedelta(days=364) < token.expires_at - timezone.now() <= timedelta(days=365)
    with pytest.raises(DomainError, match="30, 90, 365 days, not 366"):
        issue_api_token(user, "notebook", 366)


def test_a_token_for_one_project_opens_no_other(client, user):
    mine, other = make_project(), make_project()
    for project in (mine, other):
        project.memberships.create(user=user, role="manager")
    header = f"Bearer {issue_api_token(user, 'notebook', project=mine)[1]}"
    assert [row["slug"] for row in ask(client, header).json()["results"]] == [mine.slug]
    statuses = [
        client.get(f"/api/projects/{project.slug}/{part}", headers={"Authorization": header}).status_code
        for project in (mine, other)
        for part in ("", "labels/", "audit-log/")
    ]
    assert statuses == [200, 200, 200, 404, 404, 404]


def test_a_token_for_a_project_of_others_is_refused(user):
    with pytest.raises(NotAllowed, match="may not read in"):
        issue_api_token(user, "notebook", project=make_project())
    assert not ApiToken.objects.exists()


def test_a_token_that_reads_changes_nothing(client, token):
    answer = client.post("/api/projects/", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 403
    assert answer.json()["detail"].startswith("This token changes nothing.")


def test_a_token_that_manages_one_project_creates_no_other(client, user):
    project = make_project()
    project.memberships.create(user=user, role="manager")
    text = issue_api_token(user, "notebook", project=project, scope="manage")[1]
    body = {"name": "Another", "questionnaire": "seahorse"}
    headers = {"Authorization": f"Bearer {text}"}
    refused = client.post("/api/projects/", body, "application/json", headers=headers)
    assert (refused.status_code, Project.objects.count()) == (403, 1)
    assert client.get(f"/api/projects/{project.slug}/", headers=headers).status_code == 200


def test_a_new_password_and_closing_the_account_end_its_tokens(client, user, token):
    bystander = issue_api_token(make_user(), "of another")[1]
    user.email = "ada@example.org"
    user.save()
    assert ask(client, f"Bearer {token}").status_code == 200
    user.set_password("another-long-password")
    user.save()
    assert ask(client, f"Bearer {token}").status_code == 401
    token = issue_api_token(user, "notebook")[1]
    user.is_active = False
    user.save()
    user.is_active = True
    user.save()
    assert ask(client, f"Bearer {token}").status_code == 401
    assert ask(client, f"Bearer {bystander}").status_code == 200
    reasons = AuditEntry.objects.filter(action="token_deleted").values_list("reason", flat=True)
    assert list(reasons) == ["The account was closed.", "The password was changed."]


def test_a_newly_hashed_password_ends_no_token(client, user, token, settings):
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.PBKDF2SHA1PasswordHasher",
        *settings.PASSWORD_HASHERS,
    ]
    before = user.password
    assert client.post("/sign-in/", {"username": user.username, "password": PASSWORD}).status_code == 302
    user.refresh_from_db()
    assert user.password != before
    assert ask(client, f"Bearer {token}").status_code == 200


def test_it_refuses_a_deleted_token_at_once(client, token):
    assert ask(client, f"Bearer {token}").status_code == 200
    ApiToken.objects.all().delete()
    assert ask(client, f"Bearer {token}").status_code == 401


def test_a_wrong_token_does_not_fall_back_to_the_session(client, user):
    client.force_login(user)
    assert ask(client, "Bearer wrong").status_code == 401


def test_a_token_does_not_open_pages(client, token):
    answer = client.get("/account/", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/")


def test_last_use_is_recorded_to_the_minute(client, token, django_assert_num_queries):
    ask(client, f"Bearer {token}")
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    ask(client, f"Bearer {token}")
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    ask(client, f"Bearer {token}")
    assert ApiToken.objects.get().last_used_at > first


def test_only_a_hash_of_the_token_is_stored(token):
    stored = ApiToken.objects.values().get()
    assert token not in map(str, stored.values())
