"""A manager with a spreadsheet collects ratings of five people and takes them home."""

import csv
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.protocol import SEAHORSE
from annotation.templatetags.texts import language_name
from tests.browser.conftest import OpenContext, Platform, sign_in
from tests.browser.test_rater import join_by_keyboard, rate_item, shown_summary
from tests.import_files import workbook

pytestmark = pytest.mark.browser

ALL_YES = {question.key: "yes" for question in SEAHORSE.questions}
RATERS = {"anna": "de", "bert": "de", "cora": "en", "dave": "en", "emma": "de en"}
LANGUAGES = ("de", "en")
SYSTEMS = ("Baseline", "Our model")
DISPUTED = "Our model: council 2 met in en."
"""The one summary to which one rater gives another answer."""


def spreadsheet(path: Path) -> Path:
    """Write three articles in each language, with a column of summaries for each of two systems."""
    rows = [
        (
            f"{language}-{number}",
            language,
            f"The council {number} met ({language}). " * 10,
            *(f"{system}: council {number} met in {language}." for system in SYSTEMS),
        )
        for language in LANGUAGES
        for number in (1, 2, 3)
    ]
    return workbook(path, ("Nr", "Sprache", "Text", *SYSTEMS), *rows)


@dataclass
class Manager:
    page: Page

    def open(self, place: str) -> None:
        self.page.goto(f"/projects/council/{place}")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def follow(self, name: str) -> None:
        self.page.get_by_role("link", name=name).first.click()

    def step(self, title: str) -> Locator:
        self.open("set-up/")
        return self.page.locator("li", has=self.page.get_by_role("heading", name=title))

    def create_project(self) -> None:
        self.page.goto("/projects/new/")
        self.page.get_by_label("Name", exact=True).fill("Council news")
        self.page.get_by_label("Address").fill("council")
        self.page.get_by_label("Ratings per summary").fill("2")
        self.press("Create project")

    def import_texts(self, path: Path) -> None:
        self.follow("Import (Texts)")
        self.page.get_by_label("File", exact=True).set_input_files(path)
        self.press("Import")
        self.follow("Choose columns")
        proposed = {"Sprache": "language", "Text": "article"} | dict.fromkeys(SYSTEMS, "summary")
        for column, meaning in proposed.items():
            expect(self.page.get_by_label(column, exact=True).locator("option:checked")).to_have_text(meaning)
        self.page.get_by_label("Nr", exact=True).select_option("article id")
        self.press("Start dry run")
        self.press("Import for real")
        expect(self.page.locator("#job")).to_contain_text("Loaded")

    def publish_guidelines(self) -> None:
        self.follow("Write (Guidelines)")
        self.page.get_by_label("Language", exact=True).select_option("en")
        self.press("Create draft")
        self.press("Save and publish…")
        self.press("Publish version 1")

    def add_to_gold_set(self, summary: str) -> None:
        self.open("summaries/")
        self.follow(summary)
        self.follow("Add to gold set")
        self.page.get_by_role("button", name="Save answers").wait_for()  # comes after all questions
        for each in self.page.locator("fieldset.agree").all():
            each.get_by_label("Yes", exact=True).check()
            each.get_by_role("textbox").fill("As the article says.")
        self.press("Save answers")

    def shorten_rounds(self) -> None:
        self.follow("Change (Settings)")
        for label in ("First round", "Later rounds"):
            self.page.get_by_label(label, exact=True).fill("1")
        self.press("Save settings")

    def invite(self, people: dict[str, str]) -> dict[str, str]:
        """Return name -> invitation link, from name -> languages."""
        self.follow("Invite (People)")
        self.page.get_by_role("radio", name="annotator").check()
        lines = [f"{name}@example.org, annotator, {languages}" for name, languages in people.items()]
        self.page.get_by_label("E-mail addresses").fill("\n".join(lines))
        self.press("Create invitation")
        links = self.page.get_by_role("textbox", name="Invitation links").input_value()
        pairs = [line.split("\t") for line in links.splitlines()]
        return {address.partition("@")[0]: link for address, link in pairs}

    def decide(self, question: str, answer: str) -> None:
        decided = self.page.get_by_role("group", name=question)
        decided.locator(".answers label", has_text=answer).click()
        decided.get_by_role("textbox").fill("The article does not say so.")
        self.press("Save and go on")

    def export(self, name: str) -> list[dict[str, str]]:
        self.open(f"exports/?format={name}")
        with self.page.expect_download() as download:
            self.press("Download file")
        with Path(download.value.path()).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


@dataclass
class Player:
    page: Page

    def join(self, link: str, name: str) -> None:
        join_by_keyboard(self.page, link, f"council-{name}")
        self.page.get_by_role("button", name="I have read the guidelines").click()

    def choose(self, language: str) -> None:
        self.page.goto("/projects/council/rate/languages/")
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=f"in {language_name(language)}").click()

    def qualify(self, language: str) -> None:
        self.choose(language)
        self.page.get_by_role("button", name="Start round").click()
        self.page.wait_for_selector("#item")
        self.rate()
        expect(self.page.get_by_role("heading", level=1)).to_contain_text("passed")

    def rate(self, most: int = 100, doubted: str = "") -> set[str]:
        """Rate what there is, at most so many summaries, and return them. `doubted` gets one other answer."""
        rated: set[str] = set()
        while self.page.locator("#item").count() and len(rated) < most:
            summary = shown_summary(self.page)
            rate_item(self.page, ALL_YES | ({"attribution": "no"} if summary == doubted else {}))
            rated.add(summary)
        return rated


@pytest.mark.thorough
def test_a_campaign_from_a_spreadsheet_to_its_export(
    open_context: OpenContext, platform: Platform, tmp_path: Path
):
    manager = Manager(open_context().new_page())
    sign_in(manager.page, platform, "demo-manager")
    manager.create_project()
    manager.import_texts(spreadsheet(tmp_path / "texts.xlsx"))
    expect(manager.step("Texts")).to_contain_text("12 summaries to rate in German and English.")
    manager.publish_guidelines()
    for language in LANGUAGES:
        for number in (1, 2):
            manager.add_to_gold_set(f"Baseline: council {number} met in {language}.")
    expect(manager.step("Gold set")).to_contain_text("Or make rounds smaller in Settings")
    manager.shorten_rounds()
    expect(manager.step("Gold set")).to_contain_text("done")
    links = manager.invite(RATERS)
    expect(manager.step("Launch")).to_contain_text("Everything is in place.")

    players = {name: Player(open_context().new_page()) for name in RATERS}
    for name, player in players.items():
        player.join(links[name], name)
        for language in RATERS[name].split():
            player.qualify(language)
    doubted = DISPUTED
    for most in (2, 100):
        for name, player in players.items():
            for language in RATERS[name].split():
                player.choose(language)
                if doubted in player.rate(most, doubted):
                    doubted = ""

    expect(manager.step("Launch")).to_contain_text("16 of 16 needed ratings are in.")
    manager.open("adjudication/")
    manager.follow(DISPUTED)
    manager.decide("Attribution", "No")
    expect(manager.page.locator("main")).to_contain_text("Everything is decided")

    answers = manager.export("ratings")
    assert len(answers) == 16 * len(ALL_YES)
    assert [(row["summary"], row["question"]) for row in answers if row["value"] == "no"] == [
        (DISPUTED, "attribution")
    ]
    decisions = manager.export("adjudications")
    assert [(row["article_id"], row["system"], row["question"], row["value"]) for row in decisions] == [
        ("en-2", "Our model", "attribution", "no")
    ]
