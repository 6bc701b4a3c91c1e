"""The page that says which summaries are rated first."""

import pytest

from annotation import protocol
from annotation.models import Summary
from metaeval.models import Priority
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, score

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    project = make_project(protocol.YES_NO)
    summaries = make_summaries(project, ["one", "two", "three"], ["a"])
    Summary.objects.update(open_places=1)
    score(make_setup(project, "Chance"), dict(zip(summaries, [0.5, 0.9, 0.1], strict=True)))
    return project


@pytest.fixture
def address(project, client):
    client.force_login(make_member(project, "manager"))
    return f"/projects/{project.slug}/priority/"


def test_a_manager_sets_the_order_and_takes_it_back(project, client, address):
    page = client.get(address).content.decode()
    assert "All summaries have the same chance of coming next" in page
    key = page.split('name="evaluators" value="')[1].split('"')[0]
    question = project.questionnaire.questions.first()
    after = client.post(address, {"question": question.key, "evaluators": [key]}, follow=True)
    page = after.content.decode()
    assert "by doubt" in page
    assert question.title in page
    assert "Random order again" in page
    lines = b"".join(client.get(f"{address}draws.csv").streaming_content).decode().splitlines()
    assert len(lines) == 4
    client.post(f"{address}remove/")
    assert not Priority.objects.exists()


def test_missing_choices_are_named(client, address, project):
    response = client.post(address, {"question": project.questionnaire.questions.first().key})
    assert response.status_code == 422
    assert "This field is required" in response.content.decode()


def test_without_scores_the_page_says_where_they_come_from(client):
    project = make_project(protocol.YES_NO)
    client.force_login(make_member(project, "manager"))
    page = client.get(f"/projects/{project.slug}/priority/").content.decode()
    assert "No scores yet" in page
    assert "Save order" not in page


def test_an_order_that_is_fixed_offers_no_change(project, client, address):
    question = project.questionnaire.questions.first()
    rate(Summary.objects.first(), make_rater(project), **{question.key: "yes"})
    page = client.get(address).content.decode()
    assert "can no longer change" in page
    assert "Save order" not in page
    refused = client.post(f"{address}remove/", follow=True)
    assert refused.status_code == 200
