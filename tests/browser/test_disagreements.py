"""Tagging and deciding disagreements by keyboard, and published results without a session."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenContext, Platform, sign_in

pytestmark = pytest.mark.browser

JUDGED = """
from annotation.models import Project, Summary
from scoring.models import Setup, Run, Score
project = Project.objects.get(slug="demo")
setup = Setup.objects.create(
    project=project, evaluator="imported", label="A narrow judge", signature="judge", fingerprint="judge"
)
run = Run.objects.create(setup=setup, status="done")
rated = Summary.objects.filter(project=project, ratings__isnull=False).distinct().order_by("pk")
Score.objects.bulk_create(
    Score(setup=setup, run=run, dimension="comprehensibility", summary=summary, value=-place)
    for place, summary in enumerate(rated)
)
project.bump_revision()
print(setup.pk)
"""
FORGOTTEN = """
from annotation.models import Project
from scoring.models import Setup
Setup.objects.filter(label="A narrow judge").delete()
Project.objects.get(slug="demo").bump_revision()
"""


@pytest.fixture
def narrow_judge(platform: Platform) -> Iterator[str]:
    """Create an evaluator that scores only one question, return its key and delete it after the test."""
    yield platform.run(JUDGED).strip()
    platform.run(FORGOTTEN)


def current_row(page: Page) -> str:
    return str(page.evaluate("document.querySelector('.apart-row.current')?.id"))


def test_tags_are_added_and_removed_by_keyboard(open_context: OpenContext, platform: Platform):
    page = open_context().new_page()
    sign_in(page, platform, "demo-researcher")
    page.goto("/projects/demo/disagreements/?question=conciseness")
    counts = page.locator("#counts")
    page.keyboard.press("j")
    first = current_row(page)
    page.keyboard.press("Enter")
    expect(page.locator(f"#{first} .texts")).to_contain_text("Article")
    page.keyboard.press("c")
    page.keyboard.type("Too long")
    page.keyboard.press("Enter")  # saves nothing, because there is no tag yet
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    expect(counts).to_contain_text("1 guideline gap")
    expect(page.locator(".apart-row.current")).not_to_have_id(first)
    page.keyboard.press("2")
    expect(counts).to_contain_text("1 label wrong, 1 guideline gap")
    page.keyboard.press("k")
    page.reload()
    expect(page.locator(f"#{first}").get_by_label("Note")).to_have_value("Too long")
    page.keyboard.press("j")
    page.keyboard.press("0")
    expect(counts).to_have_text("1 of 3 disagreements tagged: 1 label wrong")


def test_answers_are_decided_by_keyboard(open_context: OpenContext, platform: Platform):
    page = open_context().new_page()
    sign_in(page, platform, "demo-manager")
    page.goto("/projects/demo/adjudication/?question=conciseness")
    first, second = (link.get_attribute("href") for link in page.locator(".rows .excerpt a").all()[:2])
    page.locator(".rows > li").first.click()
    page.wait_for_url(f"**{first}")
    page.keyboard.press("2")
    page.keyboard.press("1")  # corrects: no question follows
    page.keyboard.press("c")
    page.keyboard.type("Two of 12 words repeat.")  # digits in a note answer nothing
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.locator(".messages")).to_contain_text("Decision saved.")
    assert page.url.endswith(str(second))
    page.goto(str(first))
    decided = page.locator("#question-conciseness")
    expect(decided).to_contain_text("Decided: ✓ Yes demo-manager")
    expect(decided.locator("textarea")).to_have_value("Two of 12 words repeat.")
    page.keyboard.press("n")
    page.wait_for_url(f"**{second}")
    page.go_back()
    decided.get_by_role("button", name="Withdraw").click()
    expect(page.locator(".messages")).to_contain_text("Decision withdrawn.")


def test_the_page_names_an_evaluator_without_scores_for_the_question(
    open_context: OpenContext, platform: Platform, narrow_judge: str
):
    page = open_context().new_page()
    sign_in(page, platform, "demo-researcher")
    page.goto("/projects/demo/disagreements/?question=conciseness")
    page.locator("select[name=evaluator]").select_option(narrow_judge)
    expect(page.locator("#listed")).to_contain_text("A narrow judge does not score Concise.")
    page.locator("select[name=question]").select_option("comprehensibility")
    expect(page.locator("#listed h2").first).to_have_text("A narrow judge · Comprehensible")


def test_published_results_open_without_a_session_until_unpublished(
    open_context: OpenContext, platform: Platform
):
    manager, anybody = open_context().new_page(), open_context().new_page()
    sign_in(manager, platform, "demo-manager")
    manager.goto("/projects/demo/settings/")
    manager.get_by_role("link", name="Publish results").click()
    manager.get_by_role("button", name="Publish").click()
    address = manager.get_by_label("Comparison").input_value()
    anybody.goto(address)
    expect(anybody.locator("#status")).to_contain_text("published since")
    expect(anybody.locator("#numbers")).to_contain_text("Copy rate")
    manager.get_by_role("button", name="Unpublish results").click()
    anybody.wait_for_url("**/sign-in/**")
