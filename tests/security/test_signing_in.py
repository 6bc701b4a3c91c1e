"""Password guessing, redirects to other sites, and addresses open to everybody."""

import re
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.people.passwords import password_link
from tests.factories import make_user
from tests.security.pages import pages

pytestmark = pytest.mark.django_db

OPEN_TO_ALL = {"sign_in", "invitation", "password_forgotten", "password_reset"}
RIGHT = "a-long-enough-password"


class Clock:
    """The time by which attempts are counted. It stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = timezone.now()

    def __call__(self) -> datetime:
        return self.now

    def tick(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock(monkeypatch):
    moved = Clock()
    for name in ("django.utils.timezone.now", "axes.handlers.proxy.now"):
        monkeypatch.setattr(name, moved)
    return moved


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
    assert try_to_sign_in(client, user.username, RIGHT).status_code == 429
    assert (
        try_to_sign_in(client, user.username, RIGHT, **{"X-Forwarded-For": "203.0.113.1"}).status_code == 429
    )
    assert try_to_sign_in(client, user.username, RIGHT, address="203.0.113.1").status_code == 302
    assert try_to_sign_in(client, colleague.username, RIGHT).status_code == 302


def be_attacked(name):
    """Try passwords for a name from as many addresses, and return the answers' statuses."""
    addresses = [f"203.0.113.{number}" for number in range(100)]
    return [try_to_sign_in(Client(), name, address=address).status_code for address in addresses]


def test_many_addresses_that_guess_one_password_are_slowed(clock):
    make_user("jane")
    make_user("john")
    assert be_attacked("jane") == [200] * 20 + [429] * 80
    refused = try_to_sign_in(Client(), "jane")
    assert refused["Retry-After"] == "10"
    assert "Wait 10 seconds" in refused.content.decode()
    clock.tick(10)
    assert be_attacked("jane") == [200] + [429] * 99
    assert try_to_sign_in(Client(), "john", RIGHT).status_code == 302


def test_an_attacked_owner_gets_in_at_once_in_a_known_browser_and_after_ten_seconds_in_a_new_one(clock):
    make_user("jane")
    known = Client()
    assert try_to_sign_in(known, "jane", RIGHT).status_code == 302
    known.post("/sign-out/")
    be_attacked("jane")
    assert try_to_sign_in(known, "jane", RIGHT, address="203.0.113.5").status_code == 302
    new = Client()
    assert try_to_sign_in(new, "jane", RIGHT).status_code == 429
    clock.tick(9)
    assert try_to_sign_in(new, "jane", RIGHT).status_code == 429
    clock.tick(1)
    assert try_to_sign_in(new, "jane", RIGHT).status_code == 302


def test_one_address_that_tries_many_names_is_stopped(clock):
    known, user = Client(), make_user("jane")
    try_to_sign_in(known, "jane", RIGHT)
    known.post("/sign-out/")
    statuses = [try_to_sign_in(Client(), f"name{number}").status_code for number in range(100)]
    assert statuses == [200] * 50 + [429] * 50
    assert try_to_sign_in(Client(), user.username, RIGHT).status_code == 429
    assert try_to_sign_in(known, user.username, RIGHT).status_code == 302
    clock.tick(15 * 60 + 1)
    assert try_to_sign_in(Client(), user.username, RIGHT).status_code == 302


def test_a_known_browser_guesses_no_faster_and_only_its_own_name_is_known(clock):
    known = Client()
    for name in ("jane", "john"):
        make_user(name)
    try_to_sign_in(known, "jane", RIGHT)
    known.post("/sign-out/")
    addresses = [f"203.0.113.{number}" for number in range(6)]
    guesses = [try_to_sign_in(known, "jane", address=address).status_code for address in addresses]
    assert guesses == [200] * 4 + [429] * 2
    be_attacked("john")
    assert try_to_sign_in(known, "john", RIGHT, address="198.51.100.9").status_code == 429


def test_a_browser_that_set_a_new_password_by_link_is_known():
    owner = Client()
    page = owner.get(password_link(make_user("jane")), follow=True).request["PATH_INFO"]
    new = "another-long-password"
    owner.post(page, {"new_password1": new, "new_password2": new})
    be_attacked("jane")
    assert try_to_sign_in(owner, "jane", new).status_code == 302


def test_a_forged_cookie_makes_no_browser_known():
    make_user("jane")
    known, forger = Client(), Client()
    try_to_sign_in(known, "jane", RIGHT)
    be_attacked("jane")
    forger.cookies["known_browser"] = known.cookies["known_browser"].value[:-1] + "!"
    assert try_to_sign_in(forger, "jane", RIGHT).status_code == 429


def test_the_admin_has_no_sign_in_of_its_own(client):
    assert client.get("/admin/auth/user/", follow=True).request["PATH_INFO"] == "/sign-in/"
    assert client.post("/admin/login/", {"username": "jane", "password": RIGHT}).status_code == 405


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
