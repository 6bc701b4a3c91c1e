"""LLM_ENDPOINTS: the operator decides where workers send prompts and keys."""

import pytest

from annotation.errors import DomainError
from scoring.contract.requests import Address
from scoring.endpoints.endpoint_admin import add_endpoint
from scoring.endpoints.known_models import check, model_at
from scoring.endpoints.offered_addresses import addresses_on_offer
from scoring.errors import InvalidRun
from scoring.models import Run
from scoring.runs.lifecycle import cancel_run, resume_run
from scoring.runs.planning import plan_run
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import rate
from tests.scoring.scripted_endpoint import ScriptedEndpoint

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


PRIVATE = ["http://169.254.169.254/latest", "http://10.0.0.7/v1", "http://[fe80::1]/v1", "http://2852039166"]
HERE = ["http://localhost:11434/v1", "http://127.0.0.1:8080/v1", "http://[::1]:8000/v1"]


def test_any_public_address_can_be_allowed(project, settings, subtests):
    settings.LLM_ENDPOINTS = ["*"]
    user = make_member(project, "manager")
    assert start(project, "https://elsewhere.example/v1", user).total > 0
    for address in [*PRIVATE, *HERE]:
        with subtests.test(address=address):
            with pytest.raises(InvalidRun, match=r"expected a public address.*LLM_ENDPOINTS"):
                start(project, address, user)
            with pytest.raises(DomainError, match=r"expected a public address.*LLM_ENDPOINTS"):
                add_endpoint(project, address, user)


def test_models_on_this_machine_can_be_allowed(project, settings, subtests):
    settings.LLM_ENDPOINTS = ["loopback"]
    user = make_member(project, "manager")
    for address in HERE:
        with subtests.test(address=address):
            assert add_endpoint(project, address, user)
    for address in [*PRIVATE, "https://elsewhere.example/v1"]:
        with subtests.test(address=address), pytest.raises(DomainError, match="expected one of loopback"):
            add_endpoint(project, address, user)


def test_local_mode_allows_this_machine_but_no_other_private_address(project, settings, subtests):
    settings.LLM_ENDPOINTS = ["*", "loopback"]
    user = make_member(project, "manager")
    for address in [*HERE, "https://elsewhere.example/v1"]:
        with subtests.test(address=address):
            assert add_endpoint(project, address, user)
    for address in PRIVATE:
        with subtests.test(address=address), pytest.raises(DomainError, match="expected a public address"):
            add_endpoint(project, address, user)


def test_listed_private_address_is_allowed(project, settings):
    settings.LLM_ENDPOINTS = ["*", "http://10.0.0.7/v1/"]
    user = make_member(project, "manager")
    assert add_endpoint(project, "http://10.0.0.7/v1", user)
    with pytest.raises(DomainError, match="expected a public address"):
        add_endpoint(project, "http://10.0.0.7/v2", user)


def test_only_addresses_are_offered(project, settings):
    settings.LLM_ENDPOINTS = ["*", "loopback", LISTED]
    assert addresses_on_offer(project.pk) == [LISTED]


def test_worker_does_not_reach_what_is_not_listed(project, settings):
    """A name that was allowed may lead to this machine by the time a worker asks it."""
    with ScriptedEndpoint() as server:
        model = model_at(project.pk, Address(server.base_url, "m", "chat", "OPENAI_API_KEY"))
        for allowed, asked in (["*"], False), (["*", server.base_url], True), (["*", "loopback"], True):
            settings.LLM_ENDPOINTS = allowed
            server.asked.clear()
            check(model.pk)
            model.refresh_from_db()
            assert bool(server.asked) is asked
            assert ("no public address" in model.check_failure) is not asked


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
