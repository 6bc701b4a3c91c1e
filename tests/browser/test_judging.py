"""A researcher's way with judges: versions on a split of the labels, and an experiment of what is there."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, SCREENSHOTS, OpenContext, Platform, look_at, sign_in
from tests.scoring.scripted_endpoint import Answer, Asked, ScriptedEndpoint

pytestmark = pytest.mark.browser

WORKER_MS = 30_000


def copied(asked: Asked) -> float:
    """The share of the summary's words that the article has, which is what this judge goes by."""
    article, _, summary = asked.prompt.rpartition("Summary:")
    words = set(summary.split())
    return len(words & set(article.split())) / len(words)


def try_version(page: Page, number: int) -> None:
    page.get_by_role("link", name=f"Try… version {number}").click()
    expect(page.locator("main")).to_contain_text("Dry run: nothing was sent")
    page.get_by_role("button", name="Try this version").click()
    tried = page.get_by_role("row", name=f"v{number}").get_by_role("link", name="Read and tag")
    expect(tried).to_be_visible(timeout=WORKER_MS)


def test_a_judge_is_made_tried_on_the_tuning_part_and_edited(open_context: OpenContext, platform: Platform):
    with ScriptedEndpoint(lambda asked: Answer(f"{copied(asked):.2f}", usage=(900, 4))) as served:
        page = open_context(viewport=DESKTOP).new_page()
        sign_in(page, platform, "demo-researcher")
        page.goto("/projects/demo/runs/")
        page.get_by_role("link", name="Judges").click()
        page.get_by_role("button", name="Split the labels").click()
        page.get_by_role("link", name="New judge").click()
        page.get_by_role("textbox", name="Name").fill("Attribution")
        page.get_by_label("Why this version?").fill("no examples")
        page.get_by_label("model", exact=True).fill("judge-1")
        page.get_by_label("base url").fill(served.base_url)
        page.get_by_label("prompt", exact=True).select_option("described")
        page.get_by_label("Attribution", exact=True).check()
        page.locator("summary", has_text="Examples").press("Enter")
        page.get_by_label("examples", exact=True).fill("0")
        page.get_by_role("button", name="Make the judge").click()
        try_version(page, 1)

        page.get_by_role("link", name="Edit version 1 into a new one").click()
        page.get_by_label("Why this version?").fill("marks from 1 to 5")
        page.locator("summary", has_text="Score").press("Enter")
        page.get_by_label("marks", exact=True).select_option("1-5")
        expect(page.locator("#preview")).to_contain_text("decimals")
        page.get_by_role("button", name="Make the version").click()
        served.answer = lambda asked: Answer(str(round(1 + 4 * copied(asked))), usage=(900, 1))
        try_version(page, 2)
        expect(page.locator("main")).to_contain_text("2 versions were tried")
        page.get_by_label("Measure").focus()
        page.get_by_label("Measure").select_option("pearson")
        expect(page.locator("#versions-title")).to_contain_text("Pearson's r")
        expect(page.get_by_label("Measure")).to_be_focused()
        page.go_back()
        expect(page.locator("#versions-title")).to_contain_text("Spearman")
        look_at(page, "judge")
        page.get_by_role("link", name="v2", exact=True).click()
        look_at(page, "judge-version")


def test_scores_that_are_there_become_an_experiment_with_its_plot(
    open_context: OpenContext, platform: Platform
):
    page = open_context(viewport=DESKTOP).new_page()
    sign_in(page, platform, "demo-researcher")
    page.goto("/projects/demo/meta-evaluation/experiments/")
    page.get_by_role("link", name="Compare what is there").first.click()
    page.get_by_label("Name", exact=True).fill("Words or sequences of words")
    for variant, label in (("1", "ROUGE (variant 1, tokens unicode)"), ("L", "ROUGE (tokens unicode)")):
        page.get_by_label(label, exact=True).check()
        page.get_by_label(f"Name of {label}", exact=True).fill(variant)
    page.get_by_role("button", name="Compare them").click()
    page.wait_for_url(re.compile(r"/experiments/\d+/$"))
    numbers = page.get_by_role("table", name="All numbers")
    expect(numbers).to_contain_text(" to ", timeout=WORKER_MS)
    reasons = numbers.locator("details").first
    expect(reasons.locator("li").first).to_be_hidden()
    reasons.locator("summary").press("Enter")
    expect(reasons.locator("li").first).to_be_visible()
    reasons.locator("summary").press("Enter")
    page.locator("h1").click()
    look_at(page, "experiment")
    page.locator(".experiment .beside").screenshot(path=SCREENSHOTS / "experiment-plot.png")
