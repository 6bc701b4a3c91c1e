"""The rating page in each language of the interface, on a desktop and on a phone."""

import pytest
from django.conf import settings
from playwright.sync_api import expect

from tests.browser.conftest import (
    PHONE,
    OpenContext,
    Platform,
    check_layout,
    sign_in,
    wait_for_next_stage,
)

pytestmark = pytest.mark.browser

LANGUAGES = [code for code, _ in settings.LANGUAGES]
PAGES = {"sign-in": "/sign-in/", "home": "/", "account": "/account/", "history": "/projects/demo/history/"}


def test_raters_pages_fit_in_every_language(platform: Platform, open_context: OpenContext):
    rater = platform.add_rater()
    first = open_context().new_page()
    sign_in(first, platform, rater)
    first.goto("/projects/demo/rate/")
    for keys in ("1", "11"):
        stage = first.locator("#item input[name=stage]").input_value()
        for key in keys:
            first.keyboard.press(key)
        first.keyboard.press("Enter")
        wait_for_next_stage(first, first.locator("#item").get_attribute("action"), int(stage))
    for language in LANGUAGES:
        page = open_context(locale=language).new_page()
        page.goto(PAGES["sign-in"])
        check_layout(page, f"{language}-sign-in")
        sign_in(page, platform, rater)
        for name, address in (PAGES | {"rate": first.url}).items():
            if name == "sign-in":
                continue
            page.goto(address)
            assert page.locator("html").get_attribute("lang") == language
            check_layout(page, f"{language}-{name}")


def test_the_scripts_of_an_arabic_page_speak_arabic(platform: Platform, open_context: OpenContext):
    rater = platform.add_rater()
    page = open_context(locale="ar", viewport=PHONE).new_page()
    sign_in(page, platform, rater)
    page.goto("/projects/demo/rate/")
    expect(page.locator(".to-go")).to_have_text("المتبقي: 1")
    summary, label = page.locator("#item .summary .muted"), page.locator("#item .answers label").first
    assert summary.evaluate("element => getComputedStyle(element).direction") == "rtl"
    expect(label).to_contain_text("نعم")
    page.context.set_offline(True)
    label.click()
    page.locator("#item .submit").click()
    expect(page.locator("#trouble")).to_contain_text("لا اتصال بالخادم")
    expect(page.locator("#trouble button")).to_have_text("أرسل الآن")
    page.context.set_offline(False)
    expect(page.locator("#item input[name=stage]")).to_have_value("2")
