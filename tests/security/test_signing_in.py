"""Password guessing, redirects to other sites, and addresses open to everybody."""

import re

import pytest

from tests.factories import make_user
from tests.security.pages import pages

pytestmark = pytest.mark.django_db

OPEN_TO_ALL = {"sign_in", "invitation", "password_forgotten", "password_reset"}


def try_to_sign_in(client, username, password="wrong", address="198.51.100.7", **headers):
    form = {"username": username, "password": password}
    return client.post("/sign-in/", form, REMOTE_ADDR=address, headers=headers)


def test_five_failures_block_sign_in_for_that_name_and_address(client):
    user, colleague = make_user("jane"), make_user("john")
    for _ in range(4):
        assert try_to_sign_in(client, "jane").status_code == 200
    for _ in range(2):
        refused = try_to_sign_in(client, "jane")
        assert refused.status_code == 429
        assert "15 minutes" in refused.content.decode()
    right = "a-long-enough-password"
    assert try_to_sign_in(client, user.username, right).status_code == 429
    assert (
        try_to_sign_in(client, user.username, right, **{"X-Forwarded-For": "203.0.113.1"}).status_code == 429
    )
    assert try_to_sign_in(client, user.username, right, address="203.0.113.1").status_code == 302
    assert try_to_sign_in(client, colleague.username, right).status_code == 302


def test_signing_in_to_the_admin_is_throttled_too(client):
    make_user("jane")
    form = {"username": "jane", "password": "wrong"}
    statuses = [client.post("/admin/login/", form).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 200, 429]


def test_a_wrong_name_and_a_wrong_password_get_the_same_message(client):
    make_user("jane")
    said = [
        re.findall(r'role="alert">(.*?)</', try_to_sign_in(client, name).content.decode(), re.DOTALL)
        for name in ("jane", "nobody")
    ]
    assert said[0] == said[1] != []


ELSEWHERE = (
    "https://elsewhere.example/",
    "//elsewhere.example/",
    "/\\elsewhere.example/",
    "\\\\elsewhere.example",
    "http:///elsewhere.example",
    "javascript:alert(1)",
    "https:elsewhere.example",
    "\thttps://elsewhere.example",
    "https://testserver@elsewhere.example/",
)


@pytest.mark.parametrize("destination", ELSEWHERE)
def test_signing_in_and_out_never_redirects_to_another_site(client, destination):
    user = make_user()
    form = {"username": user.username, "password": "a-long-enough-password", "next": destination}
    assert client.post("/sign-in/", form)["Location"] == "/"
    assert client.get("/sign-in/", {"next": destination})["Location"] == "/"
    assert client.post("/sign-out/", {"next": destination})["Location"] == "/sign-in/"


def test_signing_in_redirects_to_the_requested_page(client):
    user = make_user()
    form = {"username": user.username, "password": "a-long-enough-password", "next": "/account/"}
    assert client.post("/sign-in/", form)["Location"] == "/account/"


def test_only_public_addresses_open_without_signing_in(open_as, campaign):
    answered = {
        name for name, response in pages(open_as("anonymous"), campaign) if response.status_code == 200
    }
    assert answered == OPEN_TO_ALL
