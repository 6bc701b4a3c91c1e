"""Signing in to the API with a token, tried on an address open to every signed-in user."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import ApiToken
from annotation.people.members import issue_api_token
from tests.factories import make_project, make_user

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
    assert set(answer.json()) == {"detail"}


def test_it_refuses_a_token_in_the_address_or_a_cookie(client, token):
    client.cookies["token"] = token
    assert client.get(f"/api/projects/?token={token}").status_code == 401


def test_it_refuses_the_token_of_a_deactivated_account(client, user, token):
    user.is_active = False
    user.save()
    assert ask(client, f"Bearer {token}").status_code == 401


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
