"""A manager runs a hosted judge: endpoint, key, prices, dry run and a budget that pauses the run."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP, OpenContext, Platform, check_layout, sign_in, take_screenshot
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.browser

KEY = "sk-browser-never-shown"


def test_a_run_of_a_hosted_judge_pauses_at_its_budget_and_resumes(
    open_context: OpenContext, platform: Platform
):
    with ScriptedEndpoint(lambda _: Answer(usage=(900, 4))) as served:
        page = open_context(viewport=DESKTOP).new_page()
        sign_in(page, platform, "demo-manager")
        page.goto("/projects/demo/runs/")
        page.get_by_role("link", name="Endpoints").click()
        page.get_by_label("Address").fill(served.base_url)
        page.get_by_label("Key").fill(KEY)
        page.get_by_role("button", name="Add endpoint").click()
        expect(page.locator("h1")).to_have_text(served.base_url)
        assert KEY not in page.content()
        page.get_by_label("Model", exact=True).fill("judge-1")
        page.locator("[name=new-input_price]").fill("2")
        page.locator("[name=new-output_price]").fill("8")
        page.get_by_role("button", name="Add model").click()
        page.get_by_role("button", name="Test capabilities of judge-1").click()
        expect(page.locator(".abilities")).to_contain_text("probabilities")
        assert {asked.key for asked in served.asked} == {f"Bearer {KEY}"}
        check_layout(page, "endpoint")

        page.goto("/projects/demo/runs/new/?evaluator=ice")
        page.get_by_label("Model", exact=True).fill("judge-1")
        page.get_by_label("Endpoint address").fill(served.base_url)
        page.get_by_label("Prompt", exact=True).select_option("described")
        page.get_by_label("Fluency").check()
        page.locator("summary", has_text="Examples").press("Enter")
        page.get_by_label("Examples", exact=True).fill("0")
        page.get_by_role("button", name="Dry run").click()
        prompts = page.locator("#dry-run details")
        expect(prompts).to_have_count(3)
        page.get_by_label("Budget, $").fill("0.005")
        with page.expect_response(lambda response: response.request.method == "POST"):
            page.get_by_label("Budget, $").press("Tab")
        expect(page.locator("#preview")).to_contain_text("The run may cost more than the budget")
        expect(prompts).to_have_count(3)
        expect(prompts.nth(1).locator("pre").last).to_be_hidden()
        prompts.nth(1).locator("summary").press("Enter")
        expect(prompts.nth(1).locator("pre").last).to_be_visible()
        check_layout(page, "dry-run")
        page.evaluate("scrollTo(0, 0)")
        take_screenshot(page, "run-form", whole=False)

        page.get_by_role("button", name="Start run").click()
        page.wait_for_url(re.compile(r"/runs/\d+/$"))
        state = page.locator("#state")
        expect(state).to_contain_text("Run paused.")
        check_layout(page, "run-paused")
        page.get_by_label("New budget, $").fill("0.001")
        page.get_by_role("button", name="Resume", exact=True).click()
        expect(state).to_contain_text("Run paused.")
        page.get_by_role("button", name="Resume without limit").click()
        expect(page.locator("h1")).to_contain_text("done")
        expect(state).to_contain_text("120 of 120 summaries")
        page.get_by_role("link", name="Delete…").click()
        page.get_by_role("button", name="Delete run and scores").click()
