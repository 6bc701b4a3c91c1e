"""What every response says to browsers and proxies."""

import re

import pytest

from tests.factories import make_user
from tests.security.pages import pages

pytestmark = pytest.mark.django_db

EVERY_ROLE = pytest.mark.parametrize("role", ["anonymous", "annotator", "manager"])
INERT = ("text/html", "application/json", "application/vnd.oai.openapi", "text/plain")
"""Types of responses that are pages, answers to programs, or the API's own description."""


@EVERY_ROLE
def test_every_response_forbids_what_its_browser_need_not_do(open_as, campaign, role):
    for name, response in [*pages(open_as(role), campaign), ("404", open_as(role).get("/nowhere/"))]:
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
def test_no_response_is_kept_by_browsers_and_proxies(open_as, campaign, role):
    for name, response in [*pages(open_as(role), campaign), ("404", open_as(role).get("/nowhere/"))]:
        kept = response.headers["Cache-Control"]
        assert "no-store" in kept, name
        assert "private" in kept, name


def test_what_is_not_a_page_is_sent_as_a_file_to_keep(open_as, campaign):
    downloads = []
    for name, response in pages(open_as("manager"), campaign):
        if response.status_code == 200 and not response.headers["Content-Type"].startswith(INERT):
            downloads.append(name)
            assert response.headers["Content-Disposition"].startswith("attachment; filename="), name
            assert not re.search(r'["\r\n;<>/\\]', response.headers["Content-Disposition"].split('"')[1]), (
                name
            )
    assert {"import_errors", "import_rejects", "run_scores", "agreement_table", "metaeval_table"} <= set(
        downloads
    )


def test_cookies_are_for_the_server_alone(client):
    user = make_user("someone")
    client.get("/sign-in/")
    client.post("/sign-in/", {"username": user.username, "password": "a-long-enough-password"})
    assert {"sessionid", "csrftoken"} <= set(client.cookies)
    for cookie in client.cookies.values():
        assert cookie["httponly"], cookie.key
        assert cookie["samesite"] == "Lax", cookie.key
