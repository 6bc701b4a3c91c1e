"""Accessibility of every page, checked by axe."""

import json
from collections.abc import Callable, Sequence
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import APIResponse, Page, Route, ViewportSize

from tests.browser.conftest import (
    DESKTOP,
    OpenContext,
    Platform,
    resume_session,
    sign_in,
)

pytestmark = pytest.mark.browser

MAKE_CAMPAIGN = """
import json
from django.test import Client
from tests.addresses import ARGUMENTS, address_of
from tests.campaigns import make_campaign
from tests.factories import make_rater
from tests.scoring.training.counted_projects import make_trained_model
campaign = make_campaign("looked at")
make_trained_model(campaign.ids["model_name"])
make_rater(campaign.project, user=campaign.users["researcher"])  # who may stop rating
sessions = {}
for role in ("manager", "annotator", "trainee", "researcher"):
    client = Client()
    client.force_login(campaign.users[role], "django.contrib.auth.backends.ModelBackend")
    sessions[role] = client.cookies["sessionid"].value
addresses = {name: address_of(name, campaign.ids_for(name)) for name in ARGUMENTS}
print(json.dumps([sessions, addresses]))
"""
EACH_KIND = {
    "demo-manager": (
        "",
        "agreement/",
        "comparison/",
        "card/?evaluator=2",
        "systems/?evaluator=2",
        "disagreements/?evaluator=2&question=attribution",
        "runs/new/?evaluator=rouge",
        "summaries/1/",
        "people/",
        "settings/",
        "imports/?format=seahorse",
    ),
    "demo-annotator": ("rate/", "history/", "guidelines/"),
}
"""User -> pages of the demo project with a form, a table, a chart or a text of their own kind."""
NARROW = ViewportSize(width=360, height=740)
ENLARGED = ViewportSize(width=DESKTOP["width"] // 2, height=DESKTOP["height"] // 2)
"""A desktop at a zoom of 200%."""
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
AXE = Axe().axe_script
RUN_AXE = """async (only) => {
  const options = only.length ? {runOnly: only} : {};
  const {violations} = await axe.run({...options, resultTypes: ["violations"]});
  return violations.flatMap(({id, nodes}) => nodes.map(({html}) => `${id}: ${html.slice(0, 200)}`));
}"""
"""The result is shortened in the browser, because passed checks are most of it."""
OF_APPEARANCE = ("color-contrast", "link-in-text-block", "scrollable-region-focusable")
"""Rules whose outcome depends on the size and the colour scheme."""


def findings(page: Page, only: Sequence[str] = ()) -> list[str]:
    """Return the violations that axe finds on the page, of all rules or of these."""
    page.evaluate(AXE)
    return list(page.evaluate(RUN_AXE, only))


def findings_by_size(page: Page, name: str) -> dict[str, list[str]]:
    """Return the violations on a narrow phone and a much enlarged desktop, and what is too wide there."""
    found = {}
    for size, scheme, rules in ((NARROW, SCHEMES[0], ()), (ENLARGED, SCHEMES[1], OF_APPEARANCE)):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        width = page.evaluate("document.documentElement.scrollWidth")
        too_wide = [f"{width} pixels wide"] if width > size["width"] else []
        found[f"{name} at {size['width']}"] = findings(page, rules) + too_wide
    return found


def answer_with(answer: APIResponse) -> Callable[[Route], None]:
    """Return a handler that shows this answer, so that the server writes the page only once."""
    return lambda route: route.fulfill(response=answer)


@pytest.mark.thorough
def test_axe_finds_no_violation_on_any_page(open_context: OpenContext, platform: Platform):
    sessions, unseen = json.loads(platform.run(MAKE_CAMPAIGN))
    for name in ("oidc_return", "sign_in_code", "admin_sign_in"):
        del unseen[name]  # without a page here: they lead on or back
    found: dict[str, list[str]] = {}
    for role, session in sessions.items():
        context = open_context()
        resume_session(context, platform, session)
        page = context.new_page()
        for name, address in list(unseen.items()):
            answer = context.request.get(address, max_redirects=0)
            if answer.status == 200 and "<html" in answer.body().decode(errors="replace"):
                page.route(page_address := f"{platform.address}{address}", answer_with(answer))
                page.goto(address)
                page.unroute(page_address)
                found |= findings_by_size(page, f"{name} as {role}")
            leads_to_file = answer.headers.get("location", "").startswith("/static/")
            if answer.status in (200, 405) or leads_to_file:  # 405: it only accepts forms
                del unseen[name]
    stranger = open_context().new_page()
    stranger.goto(unseen.pop("sign_in"))
    found |= findings_by_size(stranger, "sign_in")
    assert unseen == {}, "no role could open these pages"
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert len(found) > 80


def test_axe_finds_no_violation_on_a_page_of_each_kind(open_context: OpenContext, platform: Platform):
    found = {}
    for username, addresses in EACH_KIND.items():
        page = open_context().new_page()
        sign_in(page, platform, username)
        for address in addresses:
            answer = page.goto(f"/projects/demo/{address}")
            assert answer is not None
            assert answer.status == 200, address
            for scheme in SCHEMES:
                page.emulate_media(color_scheme=scheme)
                found[f"{address} {scheme}"] = findings(page, OF_APPEARANCE if scheme == "dark" else ())
    assert {address: wrong for address, wrong in found.items() if wrong} == {}
