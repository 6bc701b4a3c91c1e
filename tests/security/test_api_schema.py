"""Requests generated from the API's schema: no server error, and no answer that it does not describe."""

from typing import Any

import pytest
import requests
import schemathesis
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from annotation.models import ApiToken
from annotation.people.api_tokens import issue_api_token

pytestmark = [pytest.mark.django_db, pytest.mark.thorough]
SCHEMA = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(request=None, public=True))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
ASKING = ["a stranger", "a member", "a member who knows names", "a member who knows names alone"]
OPERATIONS = [found.ok() for found in SCHEMA.get_all_operations()]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: f"{each.method} {each.path}")
def test_every_answer_is_one_that_the_schema_describes(campaign, operation):
    is_rating = "/rating/" in operation.path
    role, scope = ("annotator", ApiToken.Scope.RATE) if is_rating else ("manager", ApiToken.Scope.MANAGE)
    _, token = issue_api_token(campaign.users[role], "test", scope=scope)
    body = operation.definition.raw.get("requestBody", {"content": {}})["content"]
    is_json = "multipart/form-data" not in body
    parameters = operation.definition.raw.get("parameters", [])
    texts = {each["name"] for each in parameters if each["schema"].keys() == {"type"}}
    statuses = set()

    @settings(max_examples=30, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(operation.as_strategy(), st.sampled_from(ASKING))
    def ask(case, asks):
        if asks.startswith("a member who knows names"):
            known = campaign.ids | {"format_name": "ratings"}
            case.path_parameters = {name: known[name] for name in case.path_parameters}
            plain = asks.endswith("alone")
            case.query = {name: each for name, each in case.query.items() if name not in texts and not plain}
        case.headers = {} if asks == "a stranger" else {"Authorization": f"Bearer {token}"}
        if is_json:
            case.headers["Content-Type"] = "application/json"
        answer = answer_to(case)
        statuses.add(answer.status_code)
        case.validate_response(answer, checks=CHECKS)

    ask()
    assert statuses >= ({200, 401} if operation.method == "get" and not is_rating else {401})


def answer_to(case: Any) -> schemathesis.Response:
    asked = requests.Request(**case.as_transport_kwargs(base_url="http://testserver")).prepare()
    path, _, query = asked.path_url.partition("?")
    found = Client().generic(
        asked.method,
        path,
        asked.body or b"",
        asked.headers.get("Content-Type", "application/json"),
        QUERY_STRING=query,
        headers=dict(asked.headers),
    )
    content = b"".join(found.streaming_content) if found.streaming else found.content
    headers = {name.lower(): [value] for name, value in found.items()}
    return schemathesis.Response(found.status_code, headers, content, asked, 0.0, verify=True)
