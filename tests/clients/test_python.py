"""The Python client against a server: reading whole lists, rating, and refusals."""

import json

import pytest
from celery import current_app

from annotation.models import ApiToken, AuditEntry, Project, Rater, Rating, Summary
from annotation.people.api_tokens import issue_api_token
from annotation.people.invitations import find_invitation
from scoring.runs.imported_scores import work_on_import
from scoring.runs.worker import work_on_run
from tests.annotation.rating.rating_steps import FIRST, SECOND, THIRD
from tests.clients.python_client import load_client
from tests.factories import make_project, make_rater, make_summary, make_user

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def client_module():
    return load_client()


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def connect(client_module, live_server):
    def connect(user, scope):
        return client_module.Touchstone(live_server.url, issue_api_token(user, "script", scope=scope)[1])

    return connect


@pytest.fixture
def rater(project, connect):
    return connect(make_rater(project).user, ApiToken.Scope.RATE)


@pytest.fixture
def researcher(project, connect):
    user = make_user()
    project.memberships.create(user=user, role="researcher")
    return connect(user, ApiToken.Scope.READ)


def rate(rater, slug, item):
    while item is not None:
        answers = {1: FIRST, 2: SECOND, 3: THIRD}[item["stage"]]
        assert [each["key"] for each in item["asked"]] == list(answers)
        item = rater.submit(slug, item, answers, {"grammar": "two commas"} if item["stage"] == 2 else None)


def test_a_campaign_is_rated_and_read(project, rater, researcher, tmp_path):
    for _ in range(3):
        make_summary(project)
    rater.skip(project.slug, rater.next_item(project.slug), "hard")
    while item := rater.next_item(project.slug):
        rate(rater, project.slug, item)
    assert Rating.objects.filter(completed_at__isnull=False).count() == 2

    labels = list(researcher.rows(f"projects/{project.slug}/labels/", question="grammar", limit=1))
    assert [[each["value"] for each in row["labels"]] for row in labels] == [[0.0], [0.0]]
    assert researcher.get(f"projects/{project.slug}/")["progress"]["ratings"] == 2
    researcher.download(f"projects/{project.slug}/exports/scores/", tmp_path / "scores.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["scores.csv"]


@pytest.fixture
def worker(monkeypatch, settings, tmp_path, client_module):
    """Work on imports as soon as they are queued."""
    settings.MEDIA_ROOT = tmp_path / "uploads"
    monkeypatch.setattr(client_module.time, "sleep", lambda _: None)

    def work(name, args, **_):
        if name == "scoring.tasks.run_import":
            work_on_import(*args)

    monkeypatch.setattr(current_app, "send_task", work)


def test_a_campaign_is_run_without_a_browser(connect, worker, tmp_path, client_module):
    user = make_user()
    make_project().memberships.create(user=user, role="manager")
    manager = connect(user, ApiToken.Scope.MANAGE)
    slug = manager.create_project("By hand", "seahorse", redundancy=2)["slug"]
    file = tmp_path / "news.jsonl"
    article = {"article_id": "a1", "article": "The harbour froze over.", "language": "en"}
    rows = [article | {"system": system, "summary": f"It froze, says {system}."} for system in "AB"]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    checked = manager.import_file(slug, file, "examples", dry_run=True)
    assert (checked["counts"]["summaries"]["new"], Summary.objects.count()) == (2, 0)
    manager.import_file(slug, file, "examples")

    for number in (1, 2):
        token = manager.add_rater(slug, f"participant-{number}", ["en"], qualified=True)["token"]
        rater = client_module.Touchstone(manager.base.removesuffix("/api/"), token)
        while item := rater.next_item(slug):
            rate(rater, slug, item)
    assert manager.update_project(slug, licence="mit")["redundancy"] == 2
    assert manager.get(f"projects/{slug}/")["licence"] == "mit"
    links = [
        manager.invite(slug, "annotator", ["en"], note="Ada")["link"],
        manager.invite(slug, "researcher")["link"],
    ]
    assert [find_invitation(link.split("/")[-2]).role for link in links] == ["annotator", "researcher"]
    labels = list(manager.rows(f"projects/{slug}/labels/", question="grammar"))
    assert [(row["system"], row["labels"][0]["value"], row["labels"][0]["ratings"]) for row in labels] == [
        ("A", 0.0, 2),
        ("B", 0.0, 2),
    ]
    started = manager.start_run(slug, "length", rated_only=True)
    work_on_run(started["id"])
    run = manager.wait_for_run(slug, started["id"])
    assert (run["total"], run["done"], run["unscored"]) == (2, 2, 0)
    compared = manager.get(f"projects/{slug}/comparison/", coefficient="pearson", interval="none")
    assert {row["evaluator"] for row in compared["results"]} >= {run["setup"]["label"]}
    added = AuditEntry.objects.filter(action="rater_added").values_list("actor_name", flat=True)
    assert list(added) == [user.get_username()] * 2


def test_a_file_that_is_not_imported_says_why(project, connect, worker, tmp_path, client_module):
    user = make_user()
    project.memberships.create(user=user, role="manager")
    manager = connect(user, ApiToken.Scope.MANAGE)
    file = tmp_path / "news.jsonl"
    file.write_text('{"article_id": "a1", "article": 7, "language": "en"}', encoding="utf-8")
    with pytest.raises(
        client_module.TouchstoneError, match=r"news.jsonl, line 1, article: found 7, expected"
    ):
        manager.import_file(project.slug, file, "examples")
    for wrong, message in (({"kind": "exampels"}, "did you mean|expected one of"), ({"limit": "x"}, "limit")):
        with pytest.raises(client_module.TouchstoneError, match=message) as refused:
            manager.import_file(project.slug, file, **{"kind": "examples"} | wrong)
        assert refused.value.status == 400


def test_a_request_whose_answer_is_lost_is_repeated_and_creates_nothing_twice(
    connect, client_module, monkeypatch
):
    user = make_user()
    make_project().memberships.create(user=user, role="manager")
    manager = connect(user, ApiToken.Scope.MANAGE)
    ask, answers = client_module.urlopen, []

    def lose_the_first_answer(*request, **options):
        answers.append(ask(*request, **options))
        if len(answers) == 1:
            answers[0].close()
            raise ConnectionResetError
        return answers[-1]

    monkeypatch.setattr(client_module, "urlopen", lose_the_first_answer)
    monkeypatch.setattr(client_module.time, "sleep", lambda _: None)
    assert manager.create_project("Sent twice", "seahorse")["slug"] == "sent-twice"
    assert [answer.headers["Idempotent-Replayed"] for answer in answers] == [None, "true"]
    assert Project.objects.filter(name="Sent twice").count() == 1


@pytest.mark.parametrize(
    ("username", "languages", "message"),
    [
        ("taken", ["en"], "already exists"),
        ("a b", ["en"], "valid username"),
        ("new", ["english!"], "found english!"),
    ],
)
def test_a_rater_who_cannot_be_added_is_refused(
    project, connect, client_module, username, languages, message
):
    make_user("taken")
    user = make_user()
    project.memberships.create(user=user, role="manager")
    manager = connect(user, ApiToken.Scope.MANAGE)
    with pytest.raises(client_module.TouchstoneError, match=message):
        manager.add_rater(project.slug, username, languages)
    assert not Rater.objects.exists()


def test_pages_of_different_revisions_are_not_combined(project, rater, researcher, client_module):
    for _ in range(3):
        make_summary(project)
    rate(rater, project.slug, rater.next_item(project.slug))
    rate(rater, project.slug, rater.next_item(project.slug))
    rows = researcher.rows(f"projects/{project.slug}/labels/", limit=1)
    next(rows)
    rate(rater, project.slug, rater.next_item(project.slug))
    with pytest.raises(client_module.DataChanged, match="changed meanwhile"):
        list(rows)


def test_refusals_say_what_is_wrong(project, rater, researcher, client_module):
    make_summary(project)
    item = rater.next_item(project.slug)
    with pytest.raises(client_module.TouchstoneError) as refused:
        rater.submit(project.slug, item, {"comprehensibility": "maybe"})
    assert refused.value.status == 400
    assert "found 'maybe'" in refused.value.questions["comprehensibility"]
    with pytest.raises(client_module.TouchstoneError, match="does not rate") as refused:
        researcher.next_item(project.slug)
    assert refused.value.status == 403


def test_the_token_is_sent_to_its_own_server_alone(client_module):
    client = client_module.Touchstone("http://127.0.0.1:9", "secret", patience_s=0)
    with pytest.raises(client_module.TouchstoneError, match="could not be reached"):
        client.get("projects/")
    with pytest.raises(client_module.TouchstoneError, match="does not get the token"):
        client._json("GET", "http://other.example/api/projects/")
