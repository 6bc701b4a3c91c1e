"""Live results pages, and runs from the form to their correlations."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenContext, Platform, sign_in, take_screenshot

pytestmark = pytest.mark.browser

RATE_ONE = """
from django.utils import timezone
from annotation.rating.submitting import GivenAnswer
from annotation.guidelines.following import confirm_guidelines, followed_versions
from annotation.models import Assignment, Project, Rater, Rating, Summary
from annotation.protocol import SEAHORSE
from tests.annotation.rating.rating_steps import submit_stage
project = Project.objects.get(slug="demo")
late = Rater.objects.filter(pseudonym__startswith="late-").count()
rater = Rater.objects.create(project=project, pseudonym=f"late-{late}", languages=["en"], status="qualified")
confirm_guidelines(rater, [each.version.pk for each in followed_versions(rater)])
# A readable summary, so that a No changes its label.
readable = Summary.objects.filter(project=project, system__name="abstractive-large", ratings__isnull=False)
summary = readable.distinct().order_by("pk")[late]
now = timezone.now()
assignment = Assignment.objects.create(rater=rater, summary=summary, stage_opened_at=now, leased_until=now)
submit_stage(rater, assignment.pk, 1, {"comprehensibility": GivenAnswer("no")})
print(rater.pk)
"""


def figure(page: Page, row: str, column: int) -> str:
    """Return the text of one cell of the page's heat table."""
    return page.locator("#numbers tr", has_text=row).locator("td").nth(column).inner_text()


def ratings_shown(page: Page) -> int:
    found = re.search(r"([\d,]+) ratings?", page.locator("#status").inner_text())
    assert found is not None
    return int(found[1].replace(",", ""))


@pytest.mark.parametrize(
    "address",
    [
        "/projects/demo/comparison/",
        pytest.param("/projects/demo/agreement/", marks=pytest.mark.thorough),
    ],
)
def test_a_new_rating_updates_the_open_page_without_a_reload(
    open_context: OpenContext, platform: Platform, address: str
):
    page = open_context().new_page()
    sign_in(page, platform, "demo-manager")
    page.goto(address)
    page.evaluate("window.loadedOnce = true")
    before, figures = ratings_shown(page), page.locator("#numbers").inner_text()
    platform.run(RATE_ONE)
    expect(page.locator("#status")).to_contain_text(f"{before + 1} ratings")
    assert page.locator("#numbers").inner_text() != figures
    assert page.evaluate("window.loadedOnce")


def test_a_menu_of_a_chart_stays_open_when_its_page_is_news(open_context: OpenContext, platform: Platform):
    page = open_context().new_page()
    sign_in(page, platform, "demo-manager")
    page.goto("/projects/demo/agreement/")
    before = ratings_shown(page)
    menu = page.locator("#charts details.files, #behind details.files").first
    menu.locator("summary").click()
    expect(menu.get_by_role("link", name="PDF")).to_be_visible()
    platform.run(RATE_ONE)
    expect(page.locator("#status")).to_contain_text(f"{before + 1} ratings")
    expect(menu.get_by_role("link", name="PDF")).to_be_visible()


def test_intervals_and_letters_follow_the_values_without_a_reload(
    open_context: OpenContext, platform: Platform
):
    page = open_context().new_page()
    sign_in(page, platform, "demo-researcher")
    page.goto("/projects/demo/comparison/?interval=one_look&test=perm_both")
    page.evaluate("window.loadedOnce = true")
    assert re.search(r"\.\d{3}", figure(page, "Length", 0))
    expect(page.locator("#numbers .interval").first).to_contain_text(" to ")
    expect(page.locator("#notes")).to_contain_text("Same letter: no significant difference (PERM-BOTH)")
    expect(page.locator("#behind")).to_contain_text("Significant differences")
    assert page.evaluate("window.loadedOnce")


def test_the_method_is_chosen_by_keyboard_and_kept_in_the_address(
    open_context: OpenContext, platform: Platform
):
    page = open_context().new_page()
    sign_in(page, platform, "demo-researcher")
    page.goto("/projects/demo/comparison/")
    page.get_by_text("Method", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_label("Significance test").focus()
    page.keyboard.press("w")  # Williams
    page.wait_for_url("**test=williams**")
    expect(page.locator("#notes")).to_contain_text("Williams")
    colleague = open_context().new_page()
    sign_in(colleague, platform, "demo-manager")
    colleague.goto(page.url)
    expect(colleague.locator("#notes")).to_contain_text("Williams")


def test_a_researcher_runs_rouge_and_finds_its_correlations(open_context: OpenContext, platform: Platform):
    page = open_context().new_page()
    sign_in(page, platform, "demo-researcher")
    page.goto("/projects/demo/runs/")
    page.get_by_role("link", name="New run").first.click()
    page.get_by_role("link", name="ROUGE", exact=True).click()
    page.get_by_label("Variant").select_option("2")
    page.get_by_label("Words", exact=True).select_option("unicode")
    expect(page.locator("#preview")).to_contain_text("Summaries that will get no score")
    page.get_by_role("button", name="Start run").click()
    page.wait_for_url("**/runs/*/")
    expect(page.locator("#state")).to_contain_text("done")
    expect(page.locator("#state")).to_contain_text("no reference")
    page.goto("/projects/demo/comparison/?coefficient=kendall_b")
    expect(page.locator("#numbers")).to_contain_text("ROUGE-2, words in any script")
    value = figure(page, "ROUGE-2, words in any script", 0)
    assert re.search(r"[−-]?\.\d{3}", value), value
    page.get_by_text("Table", exact=True).click()
    with page.expect_download() as download:
        page.locator("#download").get_by_role("link", name="CSV").click()
    rows = download.value.path().read_text(encoding="utf-8").splitlines()
    assert any("ROUGE-2, words in any script" in row and ",kendall_b," in row for row in rows)


@pytest.mark.thorough
def test_an_upload_of_real_ratings_gives_the_published_correlations(
    open_context: OpenContext, platform: Platform, shared
):
    """Upload SummEval's expert means, run ROUGE-1 and find the values of UMSE's Table 1."""
    page = open_context().new_page()
    sign_in(page, platform, "demo-manager")
    page.goto("/projects/new/")
    page.get_by_label("Name").fill("SummEval experts")
    page.get_by_role("button", name="Create").click()
    page.wait_for_url("**/projects/summeval-experts/**")
    page.goto("/projects/summeval-experts/imports/?format=bartscore")
    page.get_by_label("File", exact=True).set_input_files(
        shared / "data/summeval/expert_means.16systems.jsonl.gz"
    )
    page.get_by_text("Options", exact=True).click()
    page.get_by_label("Human labels").fill("{dimension}")
    page.get_by_label("Create questionnaire").check()
    page.get_by_role("button", name="Import").click()
    page.wait_for_url("**/imports/*/**")
    page.get_by_role("button", name="Import for real").click()
    expect(page.locator("main")).to_contain_text("1,600")
    expect(page.locator("main")).not_to_contain_text("would")
    page.goto("/projects/summeval-experts/runs/new/?evaluator=rouge")
    page.get_by_label("Variant").select_option("1")
    page.get_by_label("Several references").select_option("mean")
    page.get_by_label("Stemming").check()
    page.get_by_role("button", name="Start run").click()
    page.wait_for_url("**/runs/*/")
    expect(page.locator("#state")).to_contain_text("done")
    page.goto("/projects/summeval-experts/comparison/?level=article&coefficient=spearman")
    found = [float(figure(page, "ROUGE-1", column).split()[0]) for column in range(4)]
    assert found == pytest.approx([0.168, 0.160, 0.116, 0.328], abs=0.002)
    page.goto("/projects/summeval-experts/comparison/?question=relevance")
    expect(page.locator("#numbers .interval").first).to_contain_text(" to ")
    expect(page.locator("#behind .levels")).not_to_contain_text("…")
    take_screenshot(page, "campaign")


def test_a_menu_closes_on_escape_and_returns_the_focus(open_context: OpenContext, platform: Platform):
    page = open_context().new_page()
    sign_in(page, platform, "demo-researcher")
    page.goto("/projects/demo/comparison/")
    opener = page.locator(".actions details.menu > summary")
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#download")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator("#download a").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#download")).to_be_hidden()
    expect(opener).to_be_focused()
    page.get_by_text("Method", exact=True).click()
    expect(page.get_by_label("Significance test")).to_be_visible()
    page.get_by_role("heading", level=1).click()
    expect(page.get_by_label("Significance test")).to_be_hidden()


OPENED_WITHIN_THE_PAGE = """() => {
  const opened = document.querySelector("details:is(.choice, .menu)[open] > :not(summary)");
  return opened?.getBoundingClientRect().left >= 0 && document.documentElement.scrollWidth <= innerWidth;
}"""


@pytest.mark.thorough
def test_every_menu_opens_within_the_page(
    open_context: OpenContext, platform: Platform, subtests: pytest.Subtests
):
    page = open_context().new_page()
    sign_in(page, platform, "demo-researcher")
    for address in ("comparison/", "planning/"):
        page.goto(f"/projects/demo/{address}")
        for width in (1366, 1100, 860, 390, 360):
            page.set_viewport_size({"width": width, "height": 800})
            for opener in page.locator("details:is(.choice, .menu) > summary").all():
                opener.click()
                # A menu that opens over the page's edge moves once it is open.
                with subtests.test(f"{opener.inner_text()} on {address} at {width} pixels"):
                    page.wait_for_function(OPENED_WITHIN_THE_PAGE)
                page.keyboard.press("Escape")
