"""The security headers of every response."""

import re
from collections.abc import Callable

import pytest
from django.http import HttpResponse

from tests.factories import make_user
from tests.security.pages import pages

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("server_keeps_snapshots")]

EVERY_ROLE = pytest.mark.parametrize(
    "role", ["anonymous", "manager", pytest.param("annotator", marks=pytest.mark.thorough)]
)
INERT = ("text/html", "application/json", "application/vnd.oai.openapi", "text/plain")
"""Content types of pages, of the API's responses and of its schema."""


@pytest.fixture(scope="module")
def responses() -> dict[str, list[tuple[str, HttpResponse]]]:
    """Hold each role's responses, by which several tests go."""
    return {}


@pytest.fixture
def responses_to(responses, open_as, campaign) -> Callable[[str], list[tuple[str, HttpResponse]]]:
    """Return a function from a role to the name and response of every address, each requested once."""

    def ask(role: str) -> list[tuple[str, HttpResponse]]:
        if role not in responses:
            client = open_as(role)
            responses[role] = [*pages(client, campaign), ("404", client.get("/nowhere/"))]
        return responses[role]

    return ask


@EVERY_ROLE
def test_every_response_has_strict_security_headers(responses_to, role):
    for name, response in responses_to(role):
        policy = response.headers.get("Content-Security-Policy", "")
        assert "default-src 'none'" in policy, name
        assert "script-src 'self'" in policy, name
        assert "frame-ancestors 'none'" in policy, name
        assert "unsafe" not in policy, name
        assert "http:" not in policy, name
        assert "*" not in policy, name
        assert response.headers["X-Content-Type-Options"] == "nosniff", name
        assert response.headers["X-Frame-Options"] == "DENY", name
        assert response.headers["Referrer-Policy"] == "same-origin", name


@EVERY_ROLE
def test_no_response_is_cached_by_browsers_and_proxies(responses_to, role):
    for name, response in responses_to(role):
        kept = response.headers["Cache-Control"]
        assert "no-store" in kept, name
        assert "private" in kept, name


def test_downloads_are_sent_as_attachments(responses_to):
    downloads = []
    for name, response in responses_to("manager"):
        if response.status_code == 200 and not response.headers["Content-Type"].startswith(INERT):
            downloads.append(name)
            assert response.headers["Content-Disposition"].startswith("attachment; filename="), name
            assert not re.search(r'["\r\n;<>/\\]', response.headers["Content-Disposition"].split('"')[1]), (
                name
            )
    assert {"import_errors", "import_rejects", "run_scores", "agreement_table", "comparison_table"} <= set(
        downloads
    )


def test_cookies_are_http_only_and_same_site(client):
    user = make_user("someone")
    client.get("/sign-in/")
    client.post("/sign-in/", {"username": user.username, "password": "a-long-enough-password"})
    client.post("/language/", {"language": "de"})
    assert {"sessionid", "csrftoken", "known_browser", "django_language"} <= set(client.cookies)
    for cookie in client.cookies.values():
        assert cookie["httponly"], cookie.key
        assert cookie["samesite"] == "Lax", cookie.key
