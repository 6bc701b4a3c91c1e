"""A researcher runs an evaluator with a local model, up to its figures in the comparison."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenContext, Platform, sign_in, take_screenshot
from tests.scoring.tiny_models import tiny_model

pytestmark = pytest.mark.browser


@pytest.fixture
def small(platform: Platform) -> str:
    """Install a small model and return its name."""
    place = Path(platform.environment["WEIGHTS_DIR"]) / "small"
    if not place.exists():
        place.symlink_to(tiny_model("bert"), target_is_directory=True)
    return place.name


def type_into(page: Page, label: str, text: str) -> None:
    page.get_by_label(label, exact=True).focus()
    page.keyboard.press("Control+A")
    page.keyboard.type(text)
    page.keyboard.press("Tab")


@pytest.mark.thorough
def test_an_evaluator_with_a_model_is_set_up_and_run_by_keyboard(
    open_context: OpenContext, platform: Platform, small: str
):
    page = open_context().new_page()
    sign_in(page, platform, "demo-researcher")
    page.goto("/projects/demo/runs/new/")
    page.get_by_text("Cannot run here yet").press("Enter")
    page.get_by_role("link", name="BERTScore", exact=True).press("Enter")
    preview = page.locator("#preview")
    expect(preview).to_contain_text("manage.py weights fetch FacebookAI/roberta-large")
    assert page.locator(f"datalist option[value={small}]").count() == 1
    type_into(page, "Model", "smal")
    expect(preview).to_contain_text("Found 'smal', expected the id of a downloaded model")
    type_into(page, "Model", small)
    expect(preview).to_contain_text("expected a layer of 'small'")
    preview.get_by_role("link", name="Layer").press("Enter")
    expect(page.get_by_label("Layer", exact=True)).to_be_in_viewport()
    page.get_by_label("Layer", exact=True).fill("1")
    # The click takes the focus from the field, so the page requests a new preview beside the estimate.
    page.get_by_role("button", name="Estimate time").click()
    expect(preview).to_contain_text("on one worker process")
    type_into(page, "Layer", "2")
    expect(preview).not_to_contain_text("on one worker process")
    expect(preview).to_contain_text("no reference")
    page.get_by_label("Compare with").focus()
    page.keyboard.press("a")  # one letter: a select starts a new search where letters come slowly
    page.keyboard.press("Tab")
    expect(preview).not_to_contain_text("no reference")
    expect(preview).to_contain_text("✓ weights installed small")
    page.get_by_role("button", name="Estimate time").press("Enter")
    expect(preview).to_contain_text("on one worker process")
    take_screenshot(page, "run-new-estimate")
    page.get_by_role("button", name="Start run").press("Enter")
    page.wait_for_url("**/runs/*/")
    expect(page.locator("#state")).to_contain_text("done")
    expect(page.locator("h1")).to_contain_text("BERTScore F1, small layer 2, against the article")
    page.goto("/projects/demo/comparison/")
    row = page.locator("#numbers tr", has_text="BERTScore F1, small")
    expect(row.locator("td").first).to_contain_text("n ")
