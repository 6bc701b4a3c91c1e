"""A researcher trains an evaluator, stops and resumes it, and compares it on unseen articles."""

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, OpenContext, Platform, check_layout, sign_in
from tests.scoring.t5_models import label_model

pytestmark = pytest.mark.browser


@pytest.fixture
def base_model(platform: Platform) -> str:
    """Install a small mT5 to begin with, and return its name."""
    place = Path(platform.environment["WEIGHTS_DIR"]) / "tiny-mt5"
    if not place.exists():
        shutil.copytree(label_model("mt5"), place)
    return place.name


def steps_of(page: Page) -> int:
    return int(page.locator("#state .big b").inner_text().replace(",", ""))


@pytest.mark.slow("a worker loads torch, and trains until the page has shown two curves")
def test_an_evaluator_is_trained_stopped_resumed_and_compared(
    open_context: OpenContext, platform: Platform, base_model: str
):
    page = open_context().new_page()
    sign_in(page, platform, "demo-researcher")
    page.goto("/projects/demo/trainings/")
    page.get_by_role("link", name="New training").first.click()
    page.get_by_label("Name").fill("browser-test")
    page.get_by_label("Base model").fill(base_model)
    page.get_by_label("Attribution").check()
    page.get_by_label("Maximum length").fill("64")
    page.get_by_text("Articles", exact=True).click()
    page.get_by_label("Validation share").fill("0.4")
    page.get_by_label("Split seed").fill("3")  # both answers among the few validation articles
    page.get_by_text("Optimisation", exact=True).click()
    page.get_by_label("Epochs").fill("1000")
    page.get_by_label("Patience").fill("0")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview")).to_contain_text("Training articles")
    check_layout(page, "training-new")
    page.get_by_role("button", name="Start training").click()
    page.wait_for_url("**/trainings/*/")

    curves = page.locator("#state .curves")
    expect(curves.get_by_role("img", name="Loss of browser-test by step")).to_be_visible()
    expect(curves.get_by_role("img", name="Validation of browser-test by step")).to_be_visible()
    expect(page.locator("#state")).to_contain_text("left at most")
    page.get_by_role("button", name="Cancel training").click()
    expect(page.locator("#state h1")).to_contain_text("cancelled")
    expect(page.locator("#state")).to_contain_text("Best after step")
    stopped_at = steps_of(page)
    assert stopped_at > 0

    page.get_by_role("button", name="Resume").click()
    expect(page.locator("#state h1")).to_contain_text("running")
    page.wait_for_function(
        "steps => Number(document.querySelector('#state .big b').innerText.replace(',', '')) > steps",
        arg=stopped_at,
    )
    page.get_by_role("button", name="Cancel training").click()
    expect(page.locator("#state h1")).to_contain_text("cancelled")
    page.get_by_role("link", name="Score with this model").wait_for()
    check_layout(page, "training")

    page.get_by_role("link", name="Score with this model").click()
    expect(page.get_by_label("Model", exact=True)).to_have_value("trained/browser-test")
    expect(page.locator("#preview")).to_contain_text("article, or a near-duplicate, is in its training data")
    page.get_by_role("button", name="Start run").click()
    page.wait_for_url("**/runs/*/")
    expect(page.locator("#state h1")).to_contain_text("done")
    expect(page.locator("main")).to_contain_text("which comparisons with it leave out")
    page.get_by_role("link", name="Compare with human labels").click()
    row = page.locator("#numbers tr", has_text="browser-test")
    expect(row).to_contain_text("n ")
    expect(page.locator("main")).to_contain_text(re.compile("[1-9] articles seen by SEAHORSE"))

    page.goto("/projects/demo/trainings/")
    page.set_viewport_size(PHONE)
    check_layout(page, "trainings")
