"""The limit on changes through the API."""

import pytest
from django.test import Client
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from annotation.models import ApiToken
from annotation.people.api_tokens import issue_api_token
from annotation.web.write_limit import WriteLimit
from tests.factories import make_summary

pytestmark = pytest.mark.django_db


@pytest.fixture
def two_a_minute(monkeypatch):
    monkeypatch.setitem(WriteLimit.THROTTLE_RATES, "writes", "2/min")


def test_a_token_that_changes_too_often_is_told_when_to_come_back(two_a_minute, project, rater):
    make_summary(project)
    tokens = [issue_api_token(rater.user, name, scope=ApiToken.Scope.RATE)[1] for name in ("one", "two")]

    def ask(token, method, path):
        headers = {"Authorization": f"Bearer {token}"}
        address = f"/api/projects/{project.slug}/rating/{path}/"
        return Client().generic(method, address, "{}", "application/json", headers=headers)

    assert [ask(tokens[0], "POST", "next").status_code for _ in range(2)] == [200, 200]
    refused = ask(tokens[0], "POST", "next")
    assert (refused.status_code, refused["Content-Type"]) == (429, "application/problem+json")
    assert 50 <= int(refused["Retry-After"]) <= 60
    assert refused.json()["detail"].startswith("You have sent more than 2 changes within a minute. Try again")
    assert ask(tokens[0], "GET", "guidelines").status_code == 200
    assert ask(tokens[1], "POST", "next").status_code == 200


def test_a_session_is_counted_too(two_a_minute, client, manager):
    client.force_login(manager)
    body = {"name": "Another", "questionnaire": "yes-no"}
    sent = [client.post("/api/projects/", body, "application/json").status_code for _ in range(3)]
    assert sent == [201, 400, 429]


def test_counting_takes_no_sql_statement(rater, django_assert_num_queries):
    request = Request(APIRequestFactory().put("/"))
    request.user, request.auth = rater.user, issue_api_token(rater.user, "x", scope=ApiToken.Scope.RATE)[0]
    with django_assert_num_queries(0):
        assert WriteLimit().allow_request(request, None)
