"""A researcher tries versions of a judge and compares existing scores in an experiment."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, OpenContext, Platform, check_layout, sign_in
from tests.scoring.scripted_endpoint import Answer, Asked, ScriptedEndpoint

pytestmark = pytest.mark.browser


def copied_share(asked: Asked) -> float:
    """Return the share of the summary's words that are in the article; this judge scores by it."""
    article, _, summary = asked.prompt.rpartition("Summary:")
    words = set(summary.split())
    return len(words & set(article.split())) / len(words)


def try_version(page: Page, number: int) -> None:
    page.get_by_role("link", name=f"Try… version {number}").click()
    expect(page.locator("main")).to_contain_text("Dry run: nothing was sent")
    page.get_by_role("button", name="Start trial").click()
    tried = page.get_by_role("row", name=f"v{number}").get_by_role("link", name="View and tag")
    expect(tried).to_be_visible()


def test_a_judge_is_created_tried_and_edited_in_two_versions(open_context: OpenContext, platform: Platform):
    with ScriptedEndpoint(lambda asked: Answer(f"{copied_share(asked):.2f}", usage=(900, 4))) as served:
        page = open_context(viewport=DESKTOP).new_page()
        sign_in(page, platform, "demo-researcher")
        page.goto("/projects/demo/runs/")
        page.get_by_role("link", name="Judges").click()
        page.get_by_role("button", name="Split labels").click()
        page.get_by_role("link", name="New judge").click()
        page.get_by_role("textbox", name="Name").fill("Attribution")
        page.get_by_role("textbox", name="Note").fill("no examples")
        page.get_by_label("Model", exact=True).fill("judge-1")
        page.get_by_label("Endpoint address").fill(served.base_url)
        page.get_by_label("Prompt", exact=True).select_option("described")
        page.get_by_label("Attribution", exact=True).check()
        page.locator("summary", has_text="Examples").press("Enter")
        page.get_by_label("Examples", exact=True).fill("0")
        page.get_by_role("button", name="Create judge").click()
        try_version(page, 1)

        page.get_by_role("link", name="Edit version 1 into a new one").click()
        page.get_by_role("textbox", name="Note").fill("marks from 1 to 5")
        page.locator("summary", has_text="Score").press("Enter")
        page.get_by_label("Rating scale", exact=True).select_option("1-5")
        expect(page.locator("#preview")).to_contain_text("decimals")
        page.get_by_role("button", name="Create version").click()
        served.answer = lambda asked: Answer(str(round(1 + 4 * copied_share(asked))), usage=(900, 1))
        try_version(page, 2)
        expect(page.locator("main")).to_contain_text("2 versions were tried")
        page.get_by_label("Measure").focus()
        page.get_by_label("Measure").select_option("pearson")
        expect(page.locator("#versions-title")).to_contain_text("Pearson's r")
        expect(page.get_by_label("Measure")).to_be_focused()
        page.go_back()
        expect(page.locator("#versions-title")).to_contain_text("Spearman")
        check_layout(page, "judge")
        page.get_by_role("link", name="v2", exact=True).click()
        check_layout(page, "judge-version")


def test_existing_scores_become_an_experiment_with_a_chart(open_context: OpenContext, platform: Platform):
    page = open_context(viewport=DESKTOP).new_page()
    sign_in(page, platform, "demo-researcher")
    page.goto("/projects/demo/experiments/")
    page.get_by_role("link", name="Compare existing evaluators").first.click()
    page.get_by_label("Name", exact=True).fill("Words or sequences of words")
    for variant in ("ROUGE-1", "ROUGE-L"):
        label = f"{variant}, words in any script"
        page.get_by_label(label, exact=True).check()
        page.get_by_label(f"Name of {label}", exact=True).fill(variant)
    page.get_by_role("button", name="Create experiment").click()
    page.wait_for_url(re.compile(r"/experiments/\d+/$"))
    numbers = page.get_by_role("table", name="Figures")
    expect(numbers).to_contain_text(" to ")
    reasons = numbers.locator("details").first
    expect(reasons.locator("li").first).to_be_hidden()
    reasons.locator("summary").press("Enter")
    expect(reasons.locator("li").first).to_be_visible()
    reasons.locator("summary").press("Enter")
    page.locator("h1").click()
    check_layout(page, "experiment")
