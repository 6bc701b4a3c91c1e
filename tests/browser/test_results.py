"""Managers and researchers: live pages that move, and a run from the form to its correlations."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenContext, Platform, sign_in, take_screenshot

pytestmark = pytest.mark.browser

RATE_ONE = """
from django.utils import timezone
from annotation.actions.rating import GivenAnswer, submit_stage
from annotation.models import Assignment, Project, Rater, Rating, Summary
from annotation.protocol import SEAHORSE
project = Project.objects.get(slug="demo")
late = Rater.objects.filter(pseudonym__startswith="late-").count()
rater = Rater.objects.create(project=project, pseudonym=f"late-{late}", languages=["en"], status="qualified")
# A readable summary, so that a No moves its label.
readable = Summary.objects.filter(project=project, system__name="abstractive-large", ratings__isnull=False)
summary = readable.distinct().order_by("pk")[late]
now = timezone.now()
assignment = Assignment.objects.create(rater=rater, summary=summary, stage_opened_at=now, leased_until=now)
submit_stage(rater, assignment.pk, 1, {"comprehensibility": GivenAnswer("no")})
print(rater.pk)
"""


def figure(page: Page, row: str, column: int) -> str:
    """The text of one cell of the page's heat table."""
    return page.locator("#numbers tr", has_text=row).locator("td").nth(column).inner_text()


def ratings_shown(page: Page) -> int:
    found = re.search(r"([\d,]+) ratings?", page.locator("#status").inner_text())
    assert found is not None
    return int(found[1].replace(",", ""))


@pytest.mark.parametrize("address", ["/projects/demo/agreement/", "/projects/demo/meta-evaluation/"])
def test_a_new_rating_comes_to_the_open_page_without_a_reload(
    open_context: OpenContext, platform: Platform, address: str
):
    page = open_context().new_page()
    sign_in(page, platform, "demo-manager")
    page.goto(address)
    page.evaluate("window.loadedOnce = true")
    before, figures = ratings_shown(page), page.locator("#numbers").inner_text()
    platform.run(RATE_ONE)
    expect(page.locator("#status")).to_contain_text(f"{before + 1} ratings", timeout=20_000)
    assert page.locator("#numbers").inner_text() != figures
    assert page.evaluate("window.loadedOnce")


def test_values_come_first_and_their_intervals_and_letters_follow_without_a_reload(
    open_context: OpenContext, platform: Platform
):
    page = open_context().new_page()
    sign_in(page, platform, "demo-researcher")
    page.goto("/projects/demo/meta-evaluation/?test=perm_both")
    page.evaluate("window.loadedOnce = true")
    assert re.search(r"\.\d{3}", figure(page, "Length", 0))
    expect(page.locator("#numbers .interval").first).to_contain_text(" to ", timeout=30_000)
    expect(page.locator("#notes")).to_contain_text("Same letter: not told apart (PERM-BOTH)")
    expect(page.locator("#behind")).to_contain_text("Which evaluators are told apart")
    assert page.evaluate("window.loadedOnce")


def test_the_method_is_chosen_by_keyboard_and_kept_in_the_address(
    open_context: OpenContext, platform: Platform
):
    page = open_context().new_page()
    sign_in(page, platform, "demo-researcher")
    page.goto("/projects/demo/meta-evaluation/")
    page.get_by_text("Method", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_label("Test between evaluators").focus()
    page.keyboard.type("Williams")
    page.wait_for_url("**test=williams**")
    expect(page.locator("#notes")).to_contain_text("Williams", timeout=30_000)
    colleague = open_context().new_page()
    sign_in(colleague, platform, "demo-manager")
    colleague.goto(page.url)
    expect(colleague.locator("#notes")).to_contain_text("Williams", timeout=30_000)


def test_a_researcher_starts_rouge_sees_its_progress_and_finds_its_correlations(
    open_context: OpenContext, platform: Platform
):
    page = open_context().new_page()
    sign_in(page, platform, "demo-researcher")
    page.goto("/projects/demo/runs/")
    page.get_by_role("link", name="New run").first.click()
    page.get_by_role("link", name="ROUGE", exact=True).click()
    page.get_by_label("variant").select_option("2")
    page.get_by_label("tokens").select_option("unicode")
    expect(page.locator("#preview")).to_contain_text("to stay without a score")
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_url("**/runs/*/")
    expect(page.locator("#state")).to_contain_text("done", timeout=20_000)
    expect(page.locator("#state")).to_contain_text("no reference")
    page.goto("/projects/demo/meta-evaluation/?coefficient=kendall_b")
    expect(page.locator("#numbers")).to_contain_text("ROUGE (variant 2, tokens unicode)")
    value = figure(page, "ROUGE (variant 2, tokens unicode)", 0)
    assert re.search(r"[−-]?\.\d{3}", value), value
    page.get_by_text("Table", exact=True).click()
    with page.expect_download() as download:
        page.locator("#download").get_by_role("link", name="CSV").click()
    rows = download.value.path().read_text(encoding="utf-8").splitlines()
    assert any("ROUGE (variant 2, tokens unicode)" in row and ",kendall_b," in row for row in rows)


def test_a_campaign_on_real_ratings_from_upload_to_the_published_correlation(
    open_context: OpenContext, platform: Platform, shared
):
    """SummEval's expert means by upload, ROUGE-1 by the form, and UMSE's Table 1 on the page."""
    page = open_context().new_page()
    page.set_default_timeout(60_000)
    sign_in(page, platform, "demo-manager")
    page.goto("/projects/new/")
    page.get_by_label("Name").fill("SummEval experts")
    page.get_by_role("button", name="Create").click()
    page.wait_for_url("**/projects/summeval-experts/**")
    page.goto("/projects/summeval-experts/imports/?format=bartscore")
    page.get_by_label("File", exact=True).set_input_files(
        shared / "data/summeval/expert_means.16systems.jsonl.gz"
    )
    page.get_by_label("Human labels").fill("{dimension}")
    page.get_by_label("Make a questionnaire for this file").check()
    page.get_by_role("button", name="Import").click()
    page.wait_for_url("**/imports/*/**")
    page.get_by_role("button", name="Now load it for real").click()
    expect(page.locator("main")).to_contain_text("1,600", timeout=60_000)
    expect(page.locator("main")).not_to_contain_text("would")
    page.goto("/projects/summeval-experts/runs/new/?evaluator=rouge")
    page.get_by_label("variant").select_option("1")
    page.get_by_label("references", exact=True).select_option("mean")
    page.get_by_label("stem").check()
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_url("**/runs/*/")
    expect(page.locator("#state")).to_contain_text("done", timeout=60_000)
    page.goto("/projects/summeval-experts/meta-evaluation/?level=article&coefficient=spearman")
    found = [float(figure(page, "ROUGE", column).split()[0]) for column in range(4)]
    assert found == pytest.approx([0.168, 0.160, 0.116, 0.328], abs=0.002)
    page.goto("/projects/summeval-experts/meta-evaluation/?question=relevance")
    expect(page.locator("#numbers .interval").first).to_contain_text(" to ", timeout=60_000)
    expect(page.locator("#behind .levels")).not_to_contain_text("…")
    take_screenshot(page, "campaign")


def test_a_menu_closes_on_escape_and_gives_the_focus_back(open_context: OpenContext, platform: Platform):
    page = open_context().new_page()
    sign_in(page, platform, "demo-researcher")
    page.goto("/projects/demo/meta-evaluation/")
    opener = page.locator("details.menu > summary")
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#download")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator("#download a").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#download")).to_be_hidden()
    expect(opener).to_be_focused()
    page.get_by_text("Method", exact=True).click()
    expect(page.get_by_label("Test between evaluators")).to_be_visible()
    page.get_by_role("heading", level=1).click()
    expect(page.get_by_label("Test between evaluators")).to_be_hidden()
