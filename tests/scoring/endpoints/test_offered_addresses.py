"""LLM_ENDPOINTS: the operator decides where workers send prompts and keys."""

import pytest

from scoring.errors import InvalidRun
from scoring.models import Run
from scoring.runs.lifecycle import cancel_run, resume_run
from scoring.runs.planning import plan_run
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import rate

pytestmark = pytest.mark.django_db

LISTED = "https://llm.example.org/v1"


@pytest.fixture
def project(settings):
    settings.LLM_ENDPOINTS = [LISTED]
    project = make_project()
    for _ in range(3):
        rate(make_summary(project), make_rater(project), attribution="yes")
    return project


def start(project, base_url, user):
    given = {"model": "m", "base_url": base_url, "dimensions": ["attribution"], "examples": 1}
    return plan_run(project, "ice", given, user)


def test_run_started_on_a_page_cannot_use_an_unlisted_endpoint(project, subtests):
    cases = [
        "http://169.254.169.254/latest",
        "http://127.0.0.1:6379",
        "http://[::1]/v1",
        "http://0x7f.1/v1",
        "https://elsewhere.example/v1",
        f"{LISTED}/../../other",
        "https://llm.example.org.elsewhere.example/v1",
        "http://llm.example.org/v1",
    ]
    for address in cases:
        with subtests.test(address=address):
            with pytest.raises(InvalidRun, match=r"base_url.*expected one of https://llm\.example\.org/v1"):
                start(project, address, make_member(project, "researcher"))
            assert not Run.objects.exists()


@pytest.mark.parametrize("address", [LISTED, f"{LISTED}/"])
def test_run_may_use_a_listed_endpoint(project, address):
    assert start(project, address, make_member(project, "researcher")).total > 0


def test_operator_may_allow_any_endpoint(project, settings):
    settings.LLM_ENDPOINTS = ["*"]
    assert start(project, "http://127.0.0.1:8080/v1", make_member(project, "manager")).total > 0


def test_command_line_may_use_any_endpoint(project):
    assert start(project, "http://127.0.0.1:8080/v1", None).total > 0


def test_evaluators_without_an_endpoint_are_not_restricted(project):
    assert plan_run(project, "length", {}, make_member(project, "researcher")).total > 0


def test_run_cannot_resume_at_an_endpoint_no_longer_listed(project, settings):
    user = make_member(project, "researcher")
    run = start(project, LISTED, user)
    cancel_run(run, user)
    settings.LLM_ENDPOINTS = ["https://other.example.org/v1"]
    with pytest.raises(InvalidRun, match="LLM_ENDPOINTS"):
        resume_run(run, user)
    run.refresh_from_db()
    assert run.status == Run.Status.CANCELLED
