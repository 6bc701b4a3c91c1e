"""A researcher and an evaluator with a model: from its name to figures beside the human labels."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenContext, Platform, sign_in, take_screenshot
from tests.scoring.tiny_models import tiny_model

pytestmark = pytest.mark.browser

WORKER_READY_MS = 60_000  # a worker's first model brings a large library with it


@pytest.fixture
def small(platform: Platform) -> str:
    """The name of a model that the operator has put in place."""
    place = Path(platform.environment["WEIGHTS_DIR"]) / "small"
    if not place.exists():
        place.symlink_to(tiny_model("bert"), target_is_directory=True)
    return place.name


def type_into(page: Page, label: str, text: str) -> None:
    page.get_by_label(label, exact=True).focus()
    page.keyboard.press("Control+A")
    page.keyboard.type(text)
    page.keyboard.press("Tab")


def test_a_model_is_named_tried_and_run_by_keyboard_until_its_figures_are_compared(
    open_context: OpenContext, platform: Platform, small: str
):
    page = open_context().new_page()
    sign_in(page, platform, "demo-researcher")
    page.goto("/projects/demo/runs/new/")
    page.get_by_role("link", name="Likeness of embeddings").press("Enter")
    page.get_by_role("link", name="BERTScore", exact=True).press("Enter")
    preview = page.locator("#preview")
    expect(preview).to_contain_text("manage.py weights fetch FacebookAI/roberta-large")
    assert page.locator(f"datalist option[value={small}]").count() == 1
    type_into(page, "model", "smal")
    expect(preview).to_contain_text("Found 'smal', expected the id of a downloaded model")
    type_into(page, "model", small)
    expect(preview).to_contain_text("expected a layer of 'small'")
    preview.get_by_role("link", name="layer").press("Enter")
    expect(page.get_by_label("layer")).to_be_in_viewport()
    page.get_by_label("layer").fill("1")
    # The click takes the focus from the field, so that a new preview is asked for beside the estimate.
    page.get_by_role("button", name="Estimate the time").click()
    expect(preview).to_contain_text("on one worker process", timeout=WORKER_READY_MS)
    type_into(page, "layer", "2")
    expect(preview).to_contain_text("no reference")
    page.get_by_label("against").focus()
    page.keyboard.type("article")
    page.keyboard.press("Tab")
    expect(preview).not_to_contain_text("no reference")
    expect(preview).to_contain_text("✓ weights here small")
    page.get_by_role("button", name="Estimate the time").press("Enter")
    expect(preview).to_contain_text("on one worker process", timeout=WORKER_READY_MS)
    take_screenshot(page, "run-new-estimate")
    page.get_by_role("button", name="Start the run").press("Enter")
    page.wait_for_url("**/runs/*/")
    expect(page.locator("#state")).to_contain_text("done", timeout=WORKER_READY_MS)
    expect(page.locator("h1")).to_contain_text("BERTScore (model small, layer 2, against article)")
    page.goto("/projects/demo/meta-evaluation/")
    row = page.locator("#numbers tr", has_text="BERTScore (model small")
    expect(row.locator("td").first).to_contain_text("n ")
