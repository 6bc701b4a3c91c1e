"""A manager and a hosted judge: an endpoint with key and price, a dry run, a budget that pauses the run."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP, OpenContext, Platform, look_at, sign_in, take_screenshot
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.browser

KEY = "sk-browser-never-shown"
WORKER_MS = 30_000


def test_a_judge_is_priced_tried_dry_paused_at_its_budget_and_goes_on(
    open_context: OpenContext, platform: Platform
):
    with ScriptedEndpoint(lambda _: Answer(usage=(900, 4))) as served:
        page = open_context(viewport=DESKTOP).new_page()
        sign_in(page, platform, "demo-manager")
        page.goto("/projects/demo/runs/")
        page.get_by_role("link", name="Endpoints").click()
        page.get_by_label("Address").fill(served.base_url)
        page.get_by_label("Key").fill(KEY)
        page.get_by_role("button", name="Add the endpoint").click()
        expect(page.locator("h1")).to_have_text(served.base_url)
        assert KEY not in page.content()
        page.get_by_label("Model", exact=True).fill("judge-1")
        page.locator("[name=new-input_price]").fill("2")
        page.locator("[name=new-output_price]").fill("8")
        page.get_by_role("button", name="Add the model").click()
        page.get_by_role("button", name="Check judge-1").click()
        expect(page.locator(".abilities")).to_contain_text("shows probabilities", timeout=WORKER_MS)
        assert {asked.key for asked in served.asked} == {f"Bearer {KEY}"}
        look_at(page, "endpoint")

        page.goto("/projects/demo/runs/new/?evaluator=ice")
        page.get_by_label("model", exact=True).fill("judge-1")
        page.get_by_label("base url").fill(served.base_url)
        page.get_by_label("prompt", exact=True).select_option("described")
        page.get_by_label("Fluency").check()
        page.locator("summary", has_text="Examples").press("Enter")
        page.get_by_label("examples", exact=True).fill("0")
        page.get_by_role("button", name="Dry run").click()
        prompts = page.locator("#dry-run details")
        expect(prompts).to_have_count(3)
        page.get_by_label("Budget, $").fill("0.005")
        with page.expect_response(lambda response: response.request.method == "POST"):
            page.get_by_label("Budget, $").press("Tab")
        expect(page.locator("#preview")).to_contain_text("The run may pause before its end")
        expect(prompts).to_have_count(3)
        expect(prompts.nth(1).locator("pre").last).to_be_hidden()
        prompts.nth(1).locator("summary").press("Enter")
        expect(prompts.nth(1).locator("pre").last).to_be_visible()
        look_at(page, "dry-run")
        page.evaluate("scrollTo(0, 0)")
        take_screenshot(page, "run-form", whole=False)

        page.get_by_role("button", name="Start the run").click()
        page.wait_for_url(re.compile(r"/runs/\d+/$"))
        state = page.locator("#state")
        expect(state).to_contain_text("The run is paused.", timeout=WORKER_MS)
        look_at(page, "run-paused")
        page.get_by_label("New budget, $").fill("0.001")
        page.get_by_role("button", name="Go on", exact=True).click()
        expect(state).to_contain_text("The run is paused.", timeout=WORKER_MS)
        page.get_by_role("button", name="Go on without a limit").click()
        expect(page.locator("h1")).to_contain_text("done", timeout=WORKER_MS)
        expect(state).to_contain_text("120 of 120 summaries")
        page.get_by_role("link", name="Delete…").click()
        page.get_by_role("button", name="Delete the run and its scores").click()
