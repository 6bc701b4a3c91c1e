"""The Python client against a server: reading whole lists, rating, and refusals."""

import importlib.util
import sys
from pathlib import Path

import pytest

from annotation.models import ApiToken, Rating
from annotation.people.api_tokens import issue_api_token
from tests.annotation.rating.rating_steps import FIRST, SECOND, THIRD
from tests.factories import make_project, make_rater, make_summary, make_user

FILE = Path(__file__).resolve().parents[2] / "clients" / "python" / "touchstone_client.py"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def client_module():
    spec = importlib.util.spec_from_file_location("touchstone_client", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


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


def rate(rater, project, item):
    while item is not None:
        answers = {1: FIRST, 2: SECOND, 3: THIRD}[item["stage"]]
        assert [each["key"] for each in item["asked"]] == list(answers)
        item = rater.submit(
            project.slug, item, answers, {"grammar": "two commas"} if item["stage"] == 2 else None
        )


def test_a_campaign_is_rated_and_read(project, rater, researcher, tmp_path):
    for _ in range(3):
        make_summary(project)
    rater.skip(project.slug, rater.next_item(project.slug))
    while item := rater.next_item(project.slug):
        rate(rater, project, item)
    assert Rating.objects.filter(completed_at__isnull=False).count() == 2

    labels = list(researcher.rows(f"projects/{project.slug}/labels/", question="grammar", limit=1))
    assert [[each["value"] for each in row["labels"]] for row in labels] == [[0.0], [0.0]]
    assert researcher.get(f"projects/{project.slug}/")["progress"]["ratings"] == 2
    researcher.download(f"projects/{project.slug}/exports/scores/", tmp_path / "scores.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["scores.csv"]


def test_pages_of_different_revisions_are_not_combined(project, rater, researcher, client_module):
    for _ in range(3):
        make_summary(project)
    rate(rater, project, rater.next_item(project.slug))
    rate(rater, project, rater.next_item(project.slug))
    rows = researcher.rows(f"projects/{project.slug}/labels/", limit=1)
    next(rows)
    rate(rater, project, rater.next_item(project.slug))
    with pytest.raises(client_module.DataChanged, match="changed meanwhile"):
        list(rows)


def test_refusals_say_what_is_wrong(project, rater, researcher, client_module):
    make_summary(project)
    item = rater.next_item(project.slug)
    with pytest.raises(client_module.TouchstoneError) as refused:
        rater.submit(project.slug, item, {"comprehensibility": "maybe"})
    assert refused.value.status == 400
    assert "found 'maybe'" in refused.value.questions["comprehensibility"]
    with pytest.raises(client_module.TouchstoneError, match="Create one for rating") as refused:
        researcher.next_item(project.slug)
    assert refused.value.status == 403


def test_the_token_is_sent_to_its_own_server_alone(client_module):
    client = client_module.Touchstone("http://127.0.0.1:9", "secret", patience_s=0)
    with pytest.raises(client_module.TouchstoneError, match="could not be reached"):
        client.get("projects/")
    with pytest.raises(client_module.TouchstoneError, match="does not get the token"):
        client._json("GET", "http://other.example/api/projects/")
