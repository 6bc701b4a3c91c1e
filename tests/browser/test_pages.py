"""Every page at desktop and phone width: screenshots, overflow and console errors."""

import shutil
from urllib.parse import urlparse

import pytest
from django.urls import resolve, reverse
from playwright.sync_api import ConsoleMessage, Page

from tests.addresses import ARGUMENTS
from tests.browser.conftest import (
    DESKTOP,
    PHONE,
    OpenContext,
    Platform,
    running_platform,
    sign_in,
    take_screenshot,
    wait_for_next_stage,
)

pytestmark = pytest.mark.browser

PAGES = {
    "home": ("demo-manager", "/"),
    "account": ("demo-manager", "/account/"),
    "two-factor": ("demo-manager", "/account/two-factor/"),
    "project-new": ("demo-manager", "/projects/new/"),
    "progress": ("demo-manager", "/projects/demo/"),
    "agreement": ("demo-manager", "/projects/demo/agreement/"),
    "adjudication": ("demo-manager", "/projects/demo/adjudication/"),
    "contradictions": ("demo-manager", "/projects/demo/contradictions/"),
    "raters": ("demo-manager", "/projects/demo/raters/"),
    "rater": ("demo-manager", "/projects/demo/raters/1/"),
    "comparison": ("demo-researcher", "/projects/demo/comparison/"),
    "comparison-system": ("demo-researcher", "/projects/demo/comparison/?level=system"),
    "evaluator-card": ("demo-researcher", "/projects/demo/card/?evaluator=2"),
    "systems": ("demo-researcher", "/projects/demo/systems/?evaluator=2"),
    "answers": ("demo-researcher", "/projects/demo/answers/"),
    "priority": ("demo-manager", "/projects/demo/priority/"),
    "planning": ("demo-researcher", "/projects/demo/planning/"),
    "timeline": ("demo-researcher", "/projects/demo/comparison/timeline/"),
    "preregistrations": ("demo-researcher", "/projects/demo/preregistrations/"),
    "preregistration-new": ("demo-researcher", "/projects/demo/preregistrations/new/"),
    "disagreements": (
        "demo-researcher",
        "/projects/demo/disagreements/?evaluator=2&question=attribution",
    ),
    "across-projects": ("demo-researcher", "/projects/demo/across-projects/?other=sample"),
    "experiments": ("demo-researcher", "/projects/demo/experiments/"),
    "experiment-new": ("demo-researcher", "/projects/demo/experiments/new/"),
    "experiment-compare": ("demo-researcher", "/projects/demo/experiments/compare/"),
    "summaries-behind-figures": ("demo-researcher", "/projects/demo/comparison/summaries/"),
    "labels-and-scores": ("demo-researcher", "/projects/demo/summaries/2/scores/"),
    "runs": ("demo-researcher", "/projects/demo/runs/"),
    "run-new": ("demo-researcher", "/projects/demo/runs/new/"),
    "run-new-rouge": ("demo-researcher", "/projects/demo/runs/new/?evaluator=rouge"),
    "run-new-bertscore": ("demo-researcher", "/projects/demo/runs/new/?evaluator=bertscore"),
    "run-new-blanc": ("demo-researcher", "/projects/demo/runs/new/?evaluator=blanc"),
    "run-new-ice": ("demo-researcher", "/projects/demo/runs/new/?evaluator=ice"),
    "run-new-jury": ("demo-researcher", "/projects/demo/runs/new/?evaluator=jury"),
    "run": ("demo-researcher", "/projects/demo/runs/1/"),
    "endpoints": ("demo-manager", "/projects/demo/endpoints/"),
    "dimensions": ("demo-manager", "/projects/demo/dimensions/"),
    "judges": ("demo-researcher", "/projects/demo/judges/"),
    "judge-new": ("demo-researcher", "/projects/demo/judges/new/"),
    "rechecks": ("demo-researcher", "/projects/demo/rechecks/"),
    "trainings": ("demo-researcher", "/projects/demo/trainings/"),
    "model-register": ("demo-researcher", "/projects/demo/trainings/register/"),
    "training-new": ("demo-researcher", "/projects/demo/trainings/new/"),
    "learning-curve-new": ("demo-researcher", "/projects/demo/trainings/curves/new/"),
    "summaries": ("demo-manager", "/projects/demo/summaries/"),
    "summary": ("demo-manager", "/projects/demo/summaries/1/"),
    "flags": ("demo-manager", "/projects/demo/flags/"),
    "gold-set": ("demo-manager", "/projects/demo/gold/"),
    "imports": ("demo-manager", "/projects/demo/imports/"),
    "import-seahorse": ("demo-manager", "/projects/demo/imports/?format=seahorse"),
    "exports": ("demo-manager", "/projects/demo/exports/"),
    "audit-log": ("demo-manager", "/projects/demo/audit-log/"),
    "people": ("demo-manager", "/projects/demo/people/"),
    "messages-to-all": ("demo-manager", "/projects/demo/people/messages/"),
    "rater-messages": ("demo-manager", "/projects/demo/people/raters/7/messages/"),
    "invitations": ("demo-manager", "/projects/demo/people/invitations/"),
    "qualification": ("demo-manager", "/projects/demo/people/raters/7/qualification/"),
    "set-up": ("demo-manager", "/projects/demo/set-up/"),
    "set-up-preview": ("demo-manager", "/projects/demo/set-up/preview/?language=de&stage=3"),
    "settings": ("demo-manager", "/projects/demo/settings/"),
    "webhooks": ("demo-manager", "/projects/demo/settings/webhooks/"),
    "guidelines-settings": ("demo-manager", "/projects/demo/settings/guidelines/"),
    "archive": ("demo-manager", "/projects/demo/settings/archive/"),
    "archived": ("demo-manager", "/projects/demo/archive/"),
    "project-delete": ("demo-manager", "/projects/demo/archive/delete/"),
    "close": ("demo-manager", "/projects/demo/settings/close/"),
    "publish": ("demo-manager", "/projects/demo/settings/publish/"),
    "rate": ("demo-annotator", "/projects/demo/rate/"),
    "rate-languages": ("demo-annotator", "/projects/demo/rate/languages/"),
    "guidelines": ("demo-annotator", "/projects/demo/guidelines/"),
    "history": ("demo-annotator", "/projects/demo/history/"),
    "messages": ("demo-annotator", "/projects/demo/messages/"),
    "gold-round": ("demo-newcomer", "/projects/demo/rate/"),
    "refused": ("demo-annotator", "/projects/demo/people/"),
}
ONLY_FORMS = {
    *("guidelines_default", "round_start", "results_unpublish", "campaign_reopen", "project_restore"),
    *("model_import", "priority_remove"),
}
"""Addresses that answer forms and have no page."""
FOR_NOBODY = {"rating_stop"}
"""Pages that no demo account may open: none both rates and manages."""
SIZES = {"desktop": DESKTOP, "phone": PHONE}
HARMLESS = ("status of 403", "status of 404", "Password forms should have")


def watch(page: Page) -> tuple[list[str], set[str]]:
    """Collect console errors and the hosts that the page requests."""
    complaints: list[str] = []
    hosts: set[str] = set()

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not any(known in message.text for known in HARMLESS):
            complaints.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: hosts.add(urlparse(request.url).netloc))
    return complaints, hosts


def check_layout(page: Page, name: str, size: str) -> None:
    """Take a screenshot and check that the page fits its width."""
    take_screenshot(page, f"{name}-{size}")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= SIZES[size]["width"], f"{name} is {width} pixels wide"
    assert page.evaluate("scrollY") == 0, f"{name} opens below its top"


def test_every_page_of_a_project_is_among_those_opened():
    opened = {resolve(urlparse(address).path).url_name for _, address in PAGES.values()}
    pages = {name for name, arguments in ARGUMENTS.items() if name and arguments == ("slug",)}
    files = {name for name in pages if "." in reverse(name, args=["demo"])}
    unopened = {name for name in pages - files if not name.startswith("api")} - opened
    assert unopened == ONLY_FORMS | FOR_NOBODY


@pytest.mark.parametrize("username", sorted({username for username, _ in PAGES.values()}))
def test_every_page_fits_both_screens_without_console_errors(
    open_context: OpenContext, platform: Platform, username: str
):
    page = open_context().new_page()
    sign_in(page, platform, username)
    complaints, hosts = watch(page)
    for name, (user, address) in PAGES.items():
        if user == username:
            page.set_viewport_size(PHONE)
            page.goto(address)
            check_layout(page, name, "phone")
            page.set_viewport_size(DESKTOP)
            check_layout(page, name, "desktop")
    assert complaints == []
    assert hosts == {urlparse(platform.address).netloc}


@pytest.mark.parametrize("size", SIZES)
def test_the_third_stage_shows_article_summary_and_questions_together(
    open_context: OpenContext, platform: Platform, size: str
):
    page = open_context(viewport=SIZES[size]).new_page()
    sign_in(page, platform, "demo-annotator")
    page.goto("/projects/demo/rate/")
    while (stage := page.locator("#item input[name=stage]").input_value()) != "3":
        address = page.locator("#item").get_attribute("action")
        for question in page.locator("#item .question").all():
            question.locator("label", has_text="Yes").click()
        page.get_by_role("button", name="Submit").last.click()
        wait_for_next_stage(page, address, int(stage))
    for place in (".article .text", "#item .summary", "#item .question >> nth=0"):
        assert page.locator(place).is_visible()
    if size == "desktop":
        for place in ("#item .summary", "#item .question >> nth=0", "#item .submit"):
            box = page.locator(place).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= DESKTOP["height"], place
    check_layout(page, "rate-with-article", size)


@pytest.mark.parametrize("size", SIZES)
def test_strangers_see_the_sign_in_page(open_context: OpenContext, size: str):
    page = open_context(viewport=SIZES[size]).new_page()
    page.goto("/projects/demo/")
    assert "/sign-in/" in page.url
    check_layout(page, "sign-in", size)


@pytest.mark.parametrize("size", SIZES)
def test_the_first_page_leads_into_the_demo_by_keyboard(open_context: OpenContext, size: str):
    page = open_context(viewport=SIZES[size]).new_page()
    page.goto("/")
    check_layout(page, "welcome", size)
    page.get_by_role("button", name="Enter as researcher").press("Enter")
    page.get_by_role("heading", name="Your projects").wait_for()
    page.get_by_role("link", name="demo-researcher").wait_for()


def test_an_empty_platform_shows_the_first_step(open_context: OpenContext, tmp_path, migrated_sqlite):
    shutil.copy(migrated_sqlite, tmp_path)  # saves the migrations, which the platform of all tests makes
    with running_platform(tmp_path, "--no-demo") as empty:
        for size in SIZES:
            page = open_context(viewport=SIZES[size], base_url=empty.address).new_page()
            page.goto("/")
            assert "createsuperuser" in page.locator("main").inner_text()
            check_layout(page, "first-run", size)
