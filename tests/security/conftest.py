"""A campaign full of payloads, created once per file, and a client that signs in as its users."""

from collections.abc import Iterator
from http.cookies import SimpleCookie

import pytest
from django.db import transaction
from django.test import Client, override_settings

from tests.campaigns import Campaign, make_campaign
from tests.kept_snapshots import kept_snapshots
from tests.security.pages import PAYLOAD


@pytest.fixture(scope="module")
def campaign(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[Campaign]:
    """Create a campaign full of payloads, in a transaction around those of the tests."""
    uploads = override_settings(MEDIA_ROOT=tmp_path_factory.mktemp("uploads"))
    with uploads, django_db_blocker.unblock(), transaction.atomic():
        made = make_campaign(PAYLOAD)
        made.project.description = PAYLOAD
        made.project.save(update_fields=["description"])
        made.project.imports.update(
            errors=[{"file": PAYLOAD, "line": 1, "field": PAYLOAD, "found": PAYLOAD, "expected": PAYLOAD}],
            failure=PAYLOAD,
        )
        yield made
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def server_keeps_snapshots() -> Iterator[None]:
    with kept_snapshots({}):
        yield


@pytest.fixture(scope="module")
def browser() -> Client:
    """Return one client for all tests of a file, because each new one loads the middleware again."""
    return Client()


@pytest.fixture
def open_as(browser, campaign):
    def sign_in(role: str) -> Client:
        browser.cookies = SimpleCookie()
        if role != "anonymous":
            browser.force_login(campaign.users[role])
        return browser

    return sign_in
