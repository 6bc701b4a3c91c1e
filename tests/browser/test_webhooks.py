"""A webhook added in the browser, and tried by a real worker."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenContext, Platform, check_layout, sign_in
from tests.clients.python_client import load_client
from tests.scoring.webhooks.receiver import Receiver


@pytest.fixture
def receiver():
    with Receiver() as server:
        yield server


def test_a_manager_adds_a_webhook_and_its_receiver_verifies_a_test(
    open_context: OpenContext, platform: Platform, receiver: Receiver
):
    page = open_context().new_page()
    sign_in(page, platform, "demo-manager")
    page.goto("/projects/demo/settings/webhooks/")
    page.get_by_label("Address").fill(receiver.address)
    page.get_by_label("Run finished").uncheck()
    page.get_by_role("button", name="Add webhook").click()
    secret = page.get_by_label("Secret of").input_value()
    check_layout(page, "webhook-added")
    page.get_by_role("link", name="Send a test").click()
    page.get_by_role("button", name="Send a test").click()
    delivered = page.get_by_role("cell", name="delivered")
    for _ in range(50):
        if delivered.is_visible():
            break
        page.wait_for_timeout(200)
        page.reload()
    expect(delivered).to_be_visible()
    check_layout(page, "webhook")
    (request,) = receiver.received
    assert load_client().verify_webhook(secret, request.headers, request.body)["kind"] == "test"
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete webhook").click()
    expect(page.get_by_role("heading", name="No webhooks yet")).to_be_visible()
