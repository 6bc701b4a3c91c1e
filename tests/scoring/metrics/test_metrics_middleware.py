import re

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from annotation.models import ImportJob
from tests.factories import make_rater, make_summary
from tests.scoring.claims import make_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

MIDDLEWARE = "scoring.metrics.metrics_middleware.MetricsMiddleware"
TOKEN = "the-token"
WITH_TOKEN = {"authorization": f"Bearer {TOKEN}", "host": "10.1.2.3"}


@pytest.fixture
def token(settings):
    settings.METRICS_TOKEN = TOKEN
    settings.MIDDLEWARE = [MIDDLEWARE, *settings.MIDDLEWARE]


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer "}, WITH_TOKEN | {"host": "localhost"}])
def test_without_a_token_in_the_settings_there_is_no_such_address(client, headers):
    assert client.get("/metrics", headers=headers).status_code == 404


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer ", "Bearer the-toke", "Bearer the-tokens", "Basic the-token", "the-töken"]
)
def test_the_token_is_needed(token, client, given):
    response = client.get("/metrics", headers={"authorization": given})
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert b"touchstone_" not in response.content


def test_the_session_of_an_administrator_does_not_suffice(token, admin_client):
    assert admin_client.get("/metrics").status_code == 401


def test_figures_are_given_under_any_host_without_a_cookie(token, client, monkeypatch, project):
    run = make_run(monkeypatch, batches=3, project=project)
    ImportJob.objects.create(project=project, format="articles")
    response = client.get("/metrics", headers=WITH_TOKEN)
    assert response.status_code == 200
    assert not response.cookies
    assert "no-store" in response["Cache-Control"]
    families = {family.name: family for family in text_string_to_metric_families(response.text)}
    waiting = {each.labels["kind"]: each.value for each in families["touchstone_work_waiting"].samples}
    assert waiting == {"batch": 3, "api_batch": 0, "import": 1, "training": 0, "registration": 0}
    assert {each.labels["status"]: each.value for each in families["touchstone_runs"].samples}[
        run.status
    ] == 1


def test_figures_name_nobody(token, client, project):
    rater = make_rater(project)
    summary = make_summary(project, text="A secret text.")
    said = client.get("/metrics", headers=WITH_TOKEN).text
    for name in (project.slug, rater.user.username, summary.text, summary.system.name):
        assert name not in said


def test_figures_are_kept_for_some_seconds(token, client, django_assert_num_queries):
    first = client.get("/metrics", headers=WITH_TOKEN).content
    with django_assert_num_queries(0):
        assert client.get("/metrics", headers=WITH_TOKEN).content == first


def test_requests_are_not_counted_without_a_folder_for_all_processes(token, client):
    client.get("/sign-in/")
    assert not re.search("touchstone_request", client.get("/metrics", headers=WITH_TOKEN).text)


def test_other_addresses_are_answered_as_before(token):
    assert Client().get("/sign-in/").status_code == 200
    assert Client().get("/sign-in/", headers={"host": "10.1.2.3"}).status_code == 400
