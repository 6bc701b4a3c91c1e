"""A rater's work: invitation, training, ratings by keyboard and touch, drafts and failures."""

import json
from typing import NamedTuple
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.protocol import SEAHORSE
from tests.browser.conftest import (
    DESKTOP,
    PHONE,
    ROOT,
    OpenContext,
    Platform,
    sign_in,
    sign_in_with_form,
    wait_for_next_stage,
)

pytestmark = pytest.mark.browser

GOLD = {
    row["summary"].strip(): row["answers"]
    for row in map(json.loads, (ROOT / "annotation/demo/gold.jsonl").read_text(encoding="utf-8").splitlines())
}
ARTICLES = {
    row["article_id"]: row["article"]
    for row in map(
        json.loads, (ROOT / "annotation/demo/examples.jsonl").read_text(encoding="utf-8").splitlines()
    )
    if "article" in row
}
KEYS = {"yes": "1", "no": "2", "unsure": "3"}
PASSWORD = "correct horse battery"


class Exchange(NamedTuple):
    """A request of the browser and its response, body and headers."""

    url: str
    bytes: int
    text: str


DECODED = ("content-encoding", "content-length")
"""Headers that do not fit a decoded body."""

KEPT_AS_SUBMITTED = "() => Object.values(localStorage).some((kept) => JSON.parse(kept).submitted)"
REMEMBER_TROUBLE = """
window.said = "";
addEventListener("DOMContentLoaded", () => {
  const remember = () => { window.said += document.getElementById("trouble")?.textContent || ""; };
  new MutationObserver(remember).observe(document.body, { subtree: true, childList: true });
  remember();
});
"""


def invite_annotator(page: Page, note: str) -> str:
    """Create an invitation on the manager's People page and return its address."""
    page.goto("/projects/demo/people/")
    page.get_by_role("radio", name="annotator").check()
    page.get_by_role("checkbox", name="English").check()
    page.get_by_role("checkbox", name="German").check()
    page.get_by_label("Note").fill(note)
    page.get_by_role("button", name="Create invitation").click()
    return page.get_by_role("textbox", name="Invitation link").input_value()


def tab_to(page: Page, label: str) -> None:
    """Press Tab until the focus is on the field or button with this name."""
    for _ in range(60):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            """() => {
              const element = document.activeElement;
              const name = element.labels?.[0]?.innerText || element.getAttribute("aria-label");
              return (name || element.innerText || "").trim();
            }"""
        )
        if focused.startswith(label):
            return
    pytest.fail(f"the Tab key never reached {label!r}")


def join_by_keyboard(page: Page, address: str, username: str) -> None:
    page.goto(address)
    for label, text in (("User", username), ("Password", PASSWORD), ("Password", PASSWORD)):
        tab_to(page, label)
        page.keyboard.type(text)
    page.keyboard.press("Enter")
    page.wait_for_url("**/guidelines/")


def shown_stage(page: Page) -> int:
    return int(page.locator("#item input[name=stage]").input_value())


def answer_stage(page: Page, answers: dict[str, str]) -> None:
    """Answer the open stage by keyboard and submit it with Enter."""
    page.wait_for_load_state()  # else the first key may come before the script that reads it
    questions = page.locator("#item .question")
    before = page.locator("#item").get_attribute("action"), shown_stage(page)
    for index in range(questions.count()):
        key = questions.nth(index).get_attribute("id").removeprefix("question-")
        page.keyboard.press(KEYS[answers[key]])
    page.keyboard.press("Enter")
    wait_for_next_stage(page, *before)


def shown_summary(page: Page) -> str:
    return page.locator("#item .summary .text").inner_text().strip()


def rate_item(page: Page, answers: dict[str, str]) -> None:
    """Answer all stages of the shown summary."""
    address = page.locator("#item").get_attribute("action")
    while page.locator("#item").count() and page.locator("#item").get_attribute("action") == address:
        answer_stage(page, answers)


@pytest.fixture
def invited(open_context: OpenContext, platform: Platform, request: pytest.FixtureRequest) -> str:
    manager = open_context().new_page()
    sign_in(manager, platform, "demo-manager")
    return invite_annotator(manager, request.node.name)


def test_a_new_rater_joins_trains_and_rates_ten_summaries_by_keyboard(
    open_context: OpenContext, platform: Platform, invited: str
):
    page = open_context().new_page()
    join_by_keyboard(page, invited, "keyboard-rater")
    expect(page.get_by_role("heading", name="Examples in German").first).to_be_visible()
    tab_to(page, "I have read the guidelines")
    page.keyboard.press("Enter")
    page.wait_for_url("**/rate/languages/")
    tab_to(page, "Qualify")
    page.keyboard.press("Enter")
    page.wait_for_url("**/rate/")
    tab_to(page, "Start")
    page.keyboard.press("Enter")
    page.wait_for_selector("#item")
    while page.locator("#item").count():
        answers = {key: answer["value"] for key, answer in GOLD[shown_summary(page)].items()}
        rate_item(page, answers)
    page.wait_for_url("**/rounds/1/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("passed")
    tab_to(page, "Start rating")
    page.keyboard.press("Enter")
    page.wait_for_selector("#item")

    watcher = open_context().new_page()
    sign_in(watcher, platform, "demo-manager")
    watcher.goto("/projects/demo/")
    all_yes = {question.key: "yes" for question in SEAHORSE.questions}
    for number in range(1, 11):
        if not page.locator("#item").count():
            break  # the demo has few summaries in one language
        rate_item(page, all_yes)
        if number == 1:
            page.keyboard.press("u")  # the rating opens again at its first stage, with its answers
            expect(page.locator("#item")).to_contain_text("open again")
            rate_item(page, all_yes)
        if page.locator("#item").count():
            expect(page.locator("#share")).to_contain_text(f"{number} of 20")
    rated = platform.run(
        "from annotation.models import Rating;"
        "print(Rating.objects.countable().filter(rater__user__username='keyboard-rater').count())"
    )
    assert int(rated) == 10


def test_no_response_has_the_article_before_its_stage_and_the_page_is_small(
    open_context: OpenContext, platform: Platform
):
    page = open_context().new_page()
    sign_in(page, platform, platform.add_rater())
    exchanges: list[Exchange] = []

    def record(route: Route) -> None:
        response = route.fetch(max_redirects=0)
        body = response.body()
        text = body.decode("utf-8", "replace") + repr(response.headers)
        exchanges.append(Exchange(route.request.url, len(body), text))
        # Pass the values: the response may be gone if the page no longer waits for it.
        kept = {name: value for name, value in response.headers.items() if name not in DECODED}
        route.fulfill(status=response.status, headers=kept, body=body)

    page.route("**/*", record)
    page.goto("/projects/demo/rate/")
    page.wait_for_selector("#item")
    assert sum(exchange.bytes for exchange in exchanges) < 150_000
    answers = {question.key: "yes" for question in SEAHORSE.questions}
    ends = [" ".join(text.split()[-12:]) for text in ARTICLES.values()]

    def shown_so_far() -> str:
        return " ".join(" ".join(exchange.text for exchange in exchanges).split())

    assert shown_stage(page) == 1
    answer_stage(page, answers)
    assert shown_stage(page) == 2
    assert not any(end in shown_so_far() for end in ends)
    sent_before = len(exchanges)
    answer_stage(page, answers)
    assert shown_stage(page) == 3
    expect(page.locator(".article .text")).to_be_visible()
    assert any(end in shown_so_far() for end in ends), "the search must find a shown article"
    answer_stage(page, answers)
    assert len(exchanges) - sent_before <= 4, "at most two requests per stage"
    hosts = {urlparse(exchange.url).netloc for exchange in exchanges}
    assert hosts == {urlparse(platform.address).netloc}


def check_first_answers_in_sight(page: Page) -> None:
    """Check that no answer to the first question is below or behind the bar with the button."""
    assert page.evaluate("scrollY") == 0
    bar = page.locator("#item .foot").bounding_box()
    assert bar is not None
    for answer in page.locator("#item .question").first.locator(".answers label").all():
        box = answer.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= bar["y"]


def test_everything_works_by_touch_at_360_pixels(open_context: OpenContext, platform: Platform):
    page = open_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True).new_page()
    sign_in(page, platform, platform.add_rater())
    page.goto("/projects/demo/rate/")
    address = page.locator("#item").get_attribute("action")
    while page.locator("#item").count() and page.locator("#item").get_attribute("action") == address:
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        check_first_answers_in_sight(page)
        stage = shown_stage(page)
        for question in page.locator("#item .question").all():
            choice = question.locator("label", has_text="Yes")
            box = choice.bounding_box()
            assert box is not None
            assert box["height"] >= 44
            choice.tap()
        page.get_by_role("button", name="Submit").last.tap()
        wait_for_next_stage(page, address, stage)
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_role("button", name="Undo last rating")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_everything_works_without_javascript(open_context: OpenContext, platform: Platform):
    page = open_context(java_script_enabled=False, viewport=PHONE).new_page()
    sign_in_with_form(page, platform, platform.add_rater(PASSWORD))
    page.goto("/projects/demo/rate/")
    address = page.locator("#item").get_attribute("action")
    page.get_by_role("button", name="Submit").last.click()
    expect(page.get_by_text("Answer this question.")).to_be_visible()
    while page.locator("#item").count() and page.locator("#item").get_attribute("action") == address:
        for question in page.locator("#item .question").all():
            question.locator("label", has_text="Unsure").click()
        with page.expect_navigation():  # between two pages there is no item
            page.get_by_role("button", name="Submit").last.click()
    expect(page.get_by_text("Saved.")).to_be_visible()


@pytest.mark.thorough
def test_a_draft_appears_on_another_device(open_context: OpenContext, platform: Platform):
    rater = platform.add_rater(PASSWORD)
    first = open_context().new_page()
    sign_in_with_form(first, platform, rater)
    first.goto("/projects/demo/rate/")
    first.keyboard.press("3")
    expect(first.locator("#item .saved").first).to_be_visible()
    second = open_context(viewport=PHONE).new_page()
    sign_in_with_form(second, platform, rater)
    second.goto("/projects/demo/rate/")
    expect(second.locator("#item input[value=unsure]").first).to_be_checked()
    first.keyboard.press("1")


def test_a_draft_does_not_replace_the_message_to_sign_in(open_context: OpenContext, platform: Platform):
    context = open_context()
    page = context.new_page()
    sign_in(page, platform, platform.add_rater())
    page.goto("/projects/demo/rate/")
    page.keyboard.press("1")
    context.clear_cookies(name="sessionid")
    page.keyboard.press("Enter")
    way_on = page.locator("#trouble").get_by_role("button", name="Sign in")
    expect(way_on).to_be_visible()
    way_on.focus()
    page.wait_for_timeout(2500)  # a draft is sent two seconds after an answer
    expect(way_on).to_be_focused()
    page.keyboard.press("C")  # a comment is another reason to send a draft
    page.keyboard.type("hard to read")
    with page.expect_response("**/draft/"):
        pass
    expect(way_on).to_be_visible()


def test_saved_banner_does_not_shift_the_next_summary(open_context: OpenContext, platform: Platform):
    for size in (DESKTOP, PHONE):
        page = open_context(viewport=size).new_page()
        sign_in(page, platform, platform.add_rater())
        page.goto("/projects/demo/rate/")
        before = page.locator("#item .summary").bounding_box()
        rate_item(page, {question.key: "yes" for question in SEAHORSE.questions})
        expect(page.get_by_text("Saved.")).to_be_in_viewport()
        after = page.locator("#item .summary").bounding_box()
        assert before is not None
        assert after is not None
        assert (after["x"], after["y"]) == (before["x"], before["y"])


def test_backspace_steps_back_within_the_open_stage(open_context: OpenContext, platform: Platform):
    page = open_context().new_page()
    sign_in(page, platform, platform.add_rater())
    page.goto("/projects/demo/rate/")
    page.keyboard.press("1")
    answer_stage(page, {"comprehensibility": "yes"})
    page.keyboard.press("1")
    expect(page.locator("#question-grammar")).to_have_class("question current")
    page.keyboard.press("Backspace")
    expect(page.locator("#question-repetition")).to_have_class("question current")
    page.keyboard.press("2")
    expect(page.locator("#question-repetition input[value=no]")).to_be_checked()


def test_the_guidelines_open_over_the_rating_page_and_keep_their_place(
    open_context: OpenContext, platform: Platform
):
    page = open_context().new_page()
    sign_in(page, platform, platform.add_rater())
    page.goto("/projects/demo/rate/")
    address = page.url
    dialog, text = page.locator("#guidelines"), page.locator("#guidelines .text")
    page.keyboard.press("g")
    expect(dialog.get_by_role("heading", name="Comprehensible")).to_be_in_viewport()
    text.evaluate("text => { text.scrollTop = 500 }")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator("#question-comprehensibility")).to_be_focused()
    page.keyboard.press("g")
    expect(dialog).to_be_visible()
    assert text.evaluate("text => text.scrollTop") == 500
    page.keyboard.press("g")
    expect(dialog).to_be_hidden()
    answer_stage(page, {"comprehensibility": "yes"})
    page.set_viewport_size(PHONE)
    page.get_by_role("link", name="Guidelines").click()
    expect(dialog.get_by_role("heading", name="No repetition")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.url == address
    dialog.get_by_role("button", name="Close").click()
    expect(page.locator("#item .question").first).to_be_in_viewport()


def open_stage(page: Page) -> tuple[str, int]:
    """Open the rating page, and return the address of its summary and its stage."""
    page.goto("/projects/demo/rate/")
    page.wait_for_load_state()
    address = page.locator("#item").get_attribute("action")
    assert address is not None
    return address, shown_stage(page)


def test_answers_sent_while_the_server_is_away_are_sent_again(open_context: OpenContext, platform: Platform):
    page = open_context().new_page()
    sign_in(page, platform, platform.add_rater())
    address, stage = open_stage(page)
    page.route(f"**{address}", lambda route: route.fulfill(status=503))
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("#trouble")).to_contain_text("the server is not available at the moment.")
    page.keyboard.press("Shift+Tab")  # nothing that changes an answer
    page.unroute(f"**{address}")
    wait_for_next_stage(page, address, stage)
    expect(page.locator("#trouble")).to_be_empty()

    page.context.set_offline(True)
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.locator("#trouble")).to_contain_text("there is no connection to the server.")
    page.context.set_offline(False)
    wait_for_next_stage(page, address, stage + 1)
    expect(page.locator("#trouble")).to_be_empty()


def test_answers_changed_meanwhile_wait_for_their_rater(open_context: OpenContext, platform: Platform):
    page = open_context().new_page()
    sign_in(page, platform, platform.add_rater())
    address, stage = open_stage(page)
    page.route(f"**{address}", lambda route: route.fulfill(status=503))
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("#trouble")).to_contain_text("sent again by themselves")
    page.keyboard.press("2")
    expect(page.locator("#trouble")).to_contain_text("You have changed an answer meanwhile")
    page.unroute(f"**{address}")
    page.get_by_role("button", name="Send", exact=True).click()
    wait_for_next_stage(page, address, stage)


def test_answers_submitted_without_a_connection_are_sent_when_their_rater_returns(
    open_context: OpenContext, platform: Platform
):
    context, rater = open_context(), platform.add_rater()
    page = context.new_page()
    sign_in(page, platform, rater)
    address, stage = open_stage(page)
    context.set_offline(True)
    page.keyboard.press("2")
    page.keyboard.press("C")
    page.keyboard.type("no verb")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("#trouble")).to_contain_text("Your answers are kept in this browser")
    page.wait_for_function(KEPT_AS_SUBMITTED)
    page.evaluate("dispatchEvent(new Event('pagehide'))")
    page.wait_for_timeout(300)
    assert page.evaluate(KEPT_AS_SUBMITTED)
    page.close()
    context.set_offline(False)
    page = context.new_page()
    page.goto("/")
    expect(page.get_by_text("Answers of yours wait in this browser")).to_be_visible()
    page.close()

    other = context.new_page()
    sign_in(other, platform, platform.add_rater())
    other.goto("/")
    expect(other.get_by_text("Answers of yours wait in this browser")).to_be_hidden()
    open_stage(other)
    expect(other.locator("#item input:checked")).to_have_count(0)

    page = context.new_page()
    sign_in(page, platform, rater)
    page.add_init_script(REMEMBER_TROUBLE)  # which is shown for two seconds only
    page.goto(address)
    wait_for_next_stage(page, address, stage)
    expect(page.locator("#kept")).to_contain_text("are saved.")
    assert "without a connection. They are being sent." in page.evaluate("window.said")
    assert page.evaluate("localStorage.length") == 0


def test_answers_that_can_no_longer_be_saved_are_shown(open_context: OpenContext, platform: Platform):
    context, rater = open_context(), platform.add_rater()
    page = context.new_page()
    sign_in(page, platform, rater)
    open_stage(page)
    summary = shown_summary(page)
    context.set_offline(True)
    page.keyboard.press("2")
    page.close()
    phone = open_context(viewport=PHONE).new_page()
    sign_in(phone, platform, rater)
    open_stage(phone)
    phone.get_by_text("Skip…").click()
    phone.get_by_role("button", name="I cannot judge it").click()
    expect(phone.get_by_text("Summary skipped.")).to_be_visible()

    context.set_offline(False)
    page = context.new_page()
    open_stage(page)
    kept = page.get_by_role("region", name="Answers that are not saved")
    expect(kept).to_contain_text(summary[:60])
    expect(kept).to_contain_text("You skipped this summary")
    expect(kept.get_by_role("listitem")).to_have_text("Comprehensible No")
    kept.get_by_text("Remove…").click()
    kept.get_by_role("button", name="Remove answers").click()
    expect(kept).to_have_count(0)
    page.reload()
    expect(page.locator("#item")).to_be_visible()
    assert page.evaluate("localStorage.length") == 0


def test_an_acknowledged_rating_survives_a_killed_web_server(open_context: OpenContext, platform: Platform):
    page = open_context().new_page()
    sign_in(page, platform, platform.add_rater())
    page.goto("/projects/demo/rate/")
    count = (
        "from annotation.models import Answer, Rating;"
        "print(Rating.objects.countable().count(), Answer.objects.count())"
    )
    answers = {question.key: "yes" for question in SEAHORSE.questions}
    while shown_stage(page) < SEAHORSE.last_stage:
        answer_stage(page, answers)
    before = [int(number) for number in platform.run(count).split()]
    answer_stage(page, answers)
    platform.kill("gunicorn")
    after = [int(number) for number in platform.run(count).split()]
    assert after == [before[0] + 1, before[1] + 3]
    platform.wait_until_it_answers()
    page.goto("/projects/demo/rate/")
    expect(page.locator("#item")).to_be_visible()
