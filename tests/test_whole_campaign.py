"""A whole campaign played through the pages, from the empty project to its ratings in another one."""

import csv
import html
import io
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import mean

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation import protocol
from annotation.labels import human_labels
from annotation.models import ArticleFlag, ImportJob, Project, Question, Rater, Rating, Summary
from annotation.projects.forms import SettingsForm
from scoring.integrity.checks import check_results
from scoring.runs.imported_scores import work_on_import
from tests.factories import PASSWORD, make_user

pytestmark = pytest.mark.django_db

NEWS, ELSEWHERE = "news", "elsewhere"
KEYS = [question.key for question in protocol.SEAHORSE.questions]
HTMX = {"HX-Request": "true"}
GOLD_IN_LANGUAGE = 4
Answers = Callable[[int, str], str]
"""From a summary's number and a question's key to an answer."""


def truth(number: int, key: str) -> str:
    if key == "comprehensibility":
        return "no" if number % 4 < 2 else "yes"
    return "no" if (number * 3 + KEYS.index(key)) % 7 < 3 else "yes"


def honest(name: str) -> Answers:
    """Answer as is true, but for one answer in twelve."""

    def answer(number: int, key: str) -> str:
        is_wrong = random.Random(f"{name} {number} {key}").random() < 1 / 12
        right = truth(number, key)
        return {"yes": "no", "no": "yes"}[right] if is_wrong else right

    return answer


def careless(number: int, key: str) -> str:
    return random.Random(f"careless {number} {key}").choice(("yes", "no", "unsure"))


def language_of(number: int) -> str:
    return "en" if number % 2 else "de"


def example(number: int) -> dict[str, str]:
    return {
        "article_id": f"article-{(number + 1) // 4}-{language_of(number)}",
        "language": language_of(number),
        "article": f"What happened in town {(number + 1) // 4}.",
        "system": ("model-a", "model-b")[number // 2 % 2],
        "summary": f"Summary {number}.",
    }


def gold(number: int) -> dict[str, object]:
    sheet = {key: truth(number, key) for key in KEYS[: 1 if truth(number, KEYS[0]) == "no" else None]}
    answers = {key: {"value": value, "explanation": "So we agreed."} for key, value in sheet.items()}
    return {**example(number), "article_id": f"gold-{number}", "answers": answers}


def hidden(page: str, name: str) -> str:
    """Return the value of a hidden field."""
    return re.search(rf'<input type="hidden" name="{name}" value="([^"]*)"', page)[1]


@dataclass
class Manager:
    client: Client
    slug: str = NEWS

    def address(self, name: str, *args: object) -> str:
        return reverse(name, args=[self.slug, *args])

    def page(self, name: str, *args: object, **query: str) -> str:
        response = self.client.get(self.address(name, *args), query)
        assert response.status_code == 200, (name, response.status_code)
        return (response.getvalue() if response.streaming else response.content).decode()

    def table(self, name: str, *args: object, **query: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.page(name, *args, **query))))

    def post(self, name: str, /, *args: object, **form: object) -> None:
        response = self.client.post(self.address(name, *args), form)
        assert response.status_code == 302, (name, response.status_code, response.content.decode())

    def create_project(self, name: str) -> None:
        form = {"name": name, "slug": self.slug, "questionnaire": "seahorse", "redundancy": 1}
        assert self.client.post(reverse("project_new"), form).status_code == 302

    def upload(self, format_name: str, content: bytes) -> None:
        """Import a file by way of its dry run."""
        file = SimpleUploadedFile("file.jsonl", content)
        form = {"format": format_name, "file": file, "dry_run": "on", "language": "en", "rater": "x"}
        self.post("imports", **form)
        work_on_import(ImportJob.objects.latest("pk").pk)
        self.post("import_load", ImportJob.objects.latest("pk").pk)
        job = ImportJob.objects.latest("pk")
        work_on_import(job.pk)
        job.refresh_from_db()
        assert job.status == ImportJob.Status.DONE, (job.failure, job.errors)

    def change_settings(self, **changes: object) -> None:
        form = SettingsForm(Project.objects.get(slug=self.slug))
        shown = {each.html_name: each.value() for each in form}
        kept = {name: value for name, value in shown.items() if value is not None and value is not False}
        self.post("project_settings", **{**kept, **changes})

    def publish_guidelines(self) -> None:
        """Publish Touchstone's guidelines in English as they are."""
        self.post("guidelines_settings", language="en", start="touchstone")
        page = self.page("guidelines_draft", "en")
        text = re.search(r"<textarea[^>]*>\n?(.*?)</textarea>", page, re.DOTALL)[1]
        self.post("guidelines_draft", "en", text=html.unescape(text), saves=hidden(page, "saves"))
        self.post("guidelines_publish", "en", saves=hidden(self.page("guidelines_publish", "en"), "saves"))

    def invite(self, people: dict[str, str]) -> dict[str, str]:
        """Return name -> invitation link of each rater, from name -> languages."""
        lines = "\n".join(f"{name}@example.org, annotator, {spoken}" for name, spoken in people.items())
        response = self.client.post(self.address("people"), {"role": "annotator", "people": lines})
        return dict(re.findall(r"(\w+)@example\.org\t(http\S+)", response.content.decode()))

    def queue(self, **query: str) -> list[str]:
        """Return the ids of the summaries on which raters disagree, in order."""
        return list(dict.fromkeys(row["summary"] for row in self.table("adjudication_csv", **query)))

    def decide(self, summary_id: str) -> None:
        """Decide each question in dispute."""
        titles = {question.title: question.key for question in protocol.SEAHORSE.questions}
        rows = [row for row in self.table("adjudication_csv") if row["summary"] == summary_id]
        self.post("adjudicate", summary_id, **{f"answer-{titles[row['question']]}": "yes" for row in rows})

    def download(self, name: str) -> bytes:
        response = self.client.get(self.address("export_file", name), {"articles": "on"})
        assert response.status_code == 200, response.content.decode()
        return response.getvalue()

    def alphas(self) -> dict[str, float]:
        """Return Krippendorff's alpha by question, over all languages."""
        rows = self.table("agreement_table", "csv", interval="none")
        return {
            row["question"]: float(row["value"])
            for row in rows
            if row["language"] == "all" and row["statistic"] == "krippendorff_alpha"
        }


@dataclass
class Player:
    """A rater at the rating page, who reads nothing but what the page shows."""

    name: str
    client: Client
    answers: Answers
    seen: Counter[int] = field(default_factory=Counter)

    @property
    def rater(self) -> Rater:
        return Rater.objects.get(project__slug=NEWS, user__username=self.name)

    def address(self, name: str, *args: object) -> str:
        return reverse(name, args=[NEWS, *args])

    def confirm_guidelines(self) -> None:
        page = self.client.get(self.address("rate"), follow=True).content.decode()
        response = self.client.post(self.address("guidelines"), {"version": hidden(page, "version")})
        assert response.status_code == 302

    def page(self, name: str, *args: object) -> str:
        response = self.client.get(self.address(name, *args))
        assert response.status_code == 200, name
        return response.content.decode()

    def reopen(self, rating: Rating) -> None:
        assert self.client.post(self.address("history_reopen", rating.pk)).status_code == 302

    def choose(self, language: str) -> None:
        assert self.client.post(self.address("rate_languages"), {"language": language}).status_code == 302

    def rate_in(self, language: str, most: int) -> int:
        self.choose(language)
        return self.rate(most=most)

    def play_round(self, answers: Answers = truth) -> bool:
        """Rate all of a gold round; return whether it was passed."""
        assert self.client.post(self.address("round_start")).status_code == 302
        self.rate(answers)
        return bool(self.rater.rounds.latest("number").passed)

    def rate(self, answers: Answers | None = None, most: int = 1000, flag: str = "") -> int:
        """Rate until there is nothing left, at most so many summaries. Return how many were rated.

        With `flag`, flag each article that is shown.
        """
        response = self.client.get(self.address("rate"), follow=True)
        page, place = response.content.decode(), response.request["PATH_INFO"]
        rated = 0
        while "answer-" in page and rated < most:
            number, stage = int(re.search(r"Summary (\d+)\.", page)[1]), hidden(page, "stage")
            assert ("What happened in town" in page) == (stage == "3")
            assert not {"model-", "So we agreed"} & set(re.findall("model-|So we agreed", page))
            keys = sorted(set(re.findall(r'name="answer-(\w+)"', page)))
            given = {f"answer-{key}": (answers or self.answers)(number, key) for key in keys}
            if flag and stage == "3":
                sent = {"stage": stage, **given, "flag": flag}
                assert self.client.post(f"{place}flag/", sent, headers=HTMX).status_code == 200
            response = self.client.post(place, {"stage": stage, **given}, headers=HTMX)
            assert response.status_code == 200, response.content.decode()
            page = response.content.decode()
            following = response.headers.get("HX-Replace-Url", "").strip('"')
            if following != place:
                rated += 1
                self.seen[number] += 1
                place = following
        return rated


def rate_everything(players: list[Player]) -> None:
    """Let the players take turns of eight summaries until none is left in any of their languages."""
    turns = [(player, language) for player in players for language in player.rater.languages]
    while turns:
        turns = [(player, language) for player, language in turns if player.rate_in(language, most=8) == 8]


def ratings_that_count(slug: str = NEWS) -> Counter[str]:
    counted = Rating.objects.countable().filter(summary__project__slug=slug)
    return Counter(counted.values_list("summary__text", flat=True))


def labels_of(slug: str) -> dict[tuple[str, str], float]:
    project = Project.objects.get(slug=slug)
    texts = dict(Summary.objects.filter(project=project).values_list("pk", "text"))
    return {
        (question.key, texts[pk]): label
        for question in Question.objects.filter(questionnaire=project.questionnaire)
        for pk, label in human_labels(project, question).items()
    }


def lines(rows: Iterator[object]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


@pytest.fixture(autouse=True)
def _separate_upload_folder(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def manager():
    administrator = make_user("ada")
    administrator.is_superuser = True
    administrator.save()
    client = Client()
    client.force_login(administrator)
    return Manager(client)


def test_a_campaign_from_the_empty_project_to_its_ratings_elsewhere(manager):
    manager.create_project("News")
    manager.upload("examples", lines(map(example, range(1, 61))))
    manager.upload("gold", lines(map(gold, range(101, 101 + 2 * GOLD_IN_LANGUAGE))))
    manager.publish_guidelines()
    manager.change_settings(
        extra_share=60, extra_redundancy=2, gold_round_size=2, gold_retry_size=1, check_rate=100
    )
    people = {"ann": "en", "bob": "de en", "cleo": "de", "dora": "de en", "carl": "de en"}
    players = [Player(*each) for each in accepted(manager.invite(people))]
    ann, bob, cleo, dora, carl = players
    carl.answers = careless

    for player in players:
        player.confirm_guidelines()
        for language in player.rater.languages:
            player.choose(language)
            if player is cleo:
                assert not player.play_round(lambda _number, _key: "unsure")
            assert player.play_round()
    assert ratings_that_count() == {}

    # The first day: hidden checks come first; a key is wrong, an article is bad, a summary is withdrawn.
    for player in players:
        player.rate(most=10, flag="Cut off." if player is cleo else "")
    ann.rate(lambda _number, _key: "no", most=1)
    mistaken = Rating.objects.filter(rater=ann.rater).latest("completed_at")
    ann.reopen(mistaken)
    ann.rate(lambda _number, _key: "yes", most=1)
    assert revisions(mistaken, KEYS[0]) == [("no", False), ("yes", True)]
    wanted = Counter(dict(Summary.objects.rateable().values_list("text", "ratings_wanted")))
    assert Counter(wanted.values()).keys() == {1, 2}
    withdrawn = next(text for text, times in ratings_that_count().items() if times < wanted[text])
    manager.post("summary_withdraw", Summary.objects.get(text=withdrawn).pk)
    wanted[withdrawn] = ratings_that_count()[withdrawn]

    rate_everything(players)
    assert ratings_that_count() == wanted
    checks = Counter(Rating.objects.filter(is_check=True).values_list("rater__user__username", flat=True))
    assert checks == {"ann": 2, "bob": 4, "cleo": 1, "dora": 4, "carl": 4}
    again = [(each.name, number) for each in players for number, times in each.seen.items() if times > 1]
    assert again == [("ann", number_of(mistaken))]

    # The manager settles what is open.
    flags = list(ArticleFlag.objects.values_list("pk", flat=True))
    assert flags
    for flag in flags:
        manager.post("flag_resolve", flag, note="Imported again.")
    assert not ArticleFlag.objects.filter(resolved_at__isnull=True).exists()
    queue = manager.queue()
    manager.decide(queue[0])
    assert [manager.queue(state="decided"), manager.queue()] == [queue[:1], queue[1:]]
    voided = Rating.objects.countable().filter(rater=bob.rater).exclude(summary__text=withdrawn).first()
    manager.post("rating_void", voided.pk, reason="Rated the wrong town.")
    assert "Rated the wrong town." in bob.page("history_rating", voided.pk)
    rate_everything(players)
    assert ratings_that_count() == wanted
    assert voided.summary.ratings.filter(rater=bob.rater).count() == 1

    # Carl is careless, and the pages say so.
    alphas, table = manager.alphas(), manager.page("raters")
    assert min(players, key=lambda player: table.index(f">{player.rater}<")) is carl
    page = manager.page("rater_without", carl.rater.pk)
    predicted = re.findall(r'<td class="number">[^<]+</td>\s*<td class="number">([^<]+)</td>\s*<td', page)
    gone = Rating.objects.countable().filter(rater=carl.rater).count()
    manager.post("rater_remove", carl.rater.pk, reason="Answers at random.")
    without = manager.alphas()
    assert mean(without.values()) > mean(alphas.values()) + 0.1, (alphas, without)
    assert [f"{without[key]:.3f}".lstrip("0") for key in KEYS] == predicted
    assert ratings_that_count().total() == wanted.total() - gone
    assert carl.client.get(carl.address("rate")).status_code == 404
    rate_everything([ann, bob, cleo, dora])
    assert wanted - ratings_that_count() <= Counter([withdrawn])
    assert ratings_that_count() <= wanted

    # All that was collected leaves the platform, and is the same elsewhere.
    formats = set(re.findall(r"format=(\w+)", manager.page("exports"))) | {"ratings"}
    assert formats == {"ratings", "seahorse", "examples", "adjudications", "gold", "dataset", "scores"}
    files = {name: manager.download(name) for name in sorted(formats)}
    assert all(files.values())
    elsewhere = Manager(manager.client, ELSEWHERE)
    elsewhere.create_project("Elsewhere")
    elsewhere.upload("ratings", files["ratings"])
    assert ratings_that_count(ELSEWHERE) == ratings_that_count()
    assert labels_of(ELSEWHERE) == labels_of(NEWS)
    assert elsewhere.alphas() == manager.alphas()

    assert [each.check.name for each in check_results() if each.broken] == []
    done = Counter(row["action"] for row in manager.table("audit_log_csv", actor="ada"))
    assert done == {
        "project_created": 1,
        "file_imported": 2,
        "guidelines_published": 1,
        "settings_changed": 1,
        "invitation_created": len(players),
        "summary_withdrawn": 1,
        "flag_resolved": len(flags),
        "answers_decided": 1,
        "rating_voided": 1,
        "rater_removed": 1,
        "file_exported": len(formats),
    }


def revisions(rating: Rating, key: str) -> list[tuple[str, bool]]:
    """Return the answers to one question, oldest first, and whether each is current."""
    return list(
        rating.answers.filter(question__key=key).order_by("revision").values_list("value", "is_current")
    )


def number_of(rating: Rating) -> int:
    return int(re.search(r"\d+", rating.summary.text)[0])


def accepted(links: dict[str, str]) -> Iterator[tuple[str, Client, Answers]]:
    """Accept the invitations with new accounts."""
    for name, link in links.items():
        client = Client()
        form = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
        assert client.post(link, form).status_code == 302
        assert Client().get(link).status_code == 404  # it works once
        yield name, client, honest(name)
