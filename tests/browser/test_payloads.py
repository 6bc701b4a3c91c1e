"""Markup and scripts in every stored text, opened in a real browser: none becomes an element or runs."""

import json

import pytest
from playwright.sync_api import Error, Page

from tests.browser.conftest import OpenContext, Platform, resume_session
from tests.security.pages import PAYLOAD

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

STORE = f"""
import json
from django.contrib.auth import BACKEND_SESSION_KEY
from django.test import Client
from tests.addresses import ARGUMENTS, address_of
from tests.campaigns import make_campaign
campaign = make_campaign({PAYLOAD!r})
campaign.project.description = {PAYLOAD!r}
campaign.project.save(update_fields=["description"])
sessions = {{}}
for role in ("manager", "annotator"):
    client = Client()
    client.force_login(campaign.users[role], "django.contrib.auth.backends.ModelBackend")
    sessions[role] = client.cookies["sessionid"].value
addresses = [address_of(name, campaign.ids_for(name)) for name in ARGUMENTS if name]
print(json.dumps([sessions, addresses]))
"""
"""Fills a project with payloads and prints sessions by role, and all addresses."""


def test_no_page_runs_what_is_stored(open_context: OpenContext, platform: Platform):
    sessions, addresses = json.loads(platform.run(STORE))
    assert len(addresses) > 100
    broken: list[str] = []
    page = open_context().new_page()
    page.on("dialog", lambda dialog: (broken.append(f"{page.url}: {dialog.message}"), dialog.dismiss()))
    page.on("console", lambda said: "Security Policy" in said.text and broken.append(said.text))
    shown = 0
    for session in sessions.values():
        resume_session(page.context, platform, session)
        refused = []
        for address in addresses:
            if is_refused(page, address):
                refused.append(address)
            shown += PAYLOAD in page.evaluate("document.documentElement.textContent")
            if page.locator("img[src=x], script:not([src])").count():
                broken.append(f"{address}: markup became an element")
        addresses = refused  # the next role opens what this one may not
    assert broken == []
    assert shown > 50


def is_refused(page: Page, address: str) -> bool:
    """Open the address. A file leaves the page as it was."""
    try:
        response = page.goto(address, wait_until="domcontentloaded")
    except Error as error:
        if "Download is starting" not in str(error) and "ERR_ABORTED" not in str(error):
            raise
        return False
    return response is None or not response.ok
