"""A project's knowledge of models: found once, stored, and used to refuse impossible runs."""

import json
from dataclasses import asdict
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.errors import DomainError, NotAllowed
from scoring.contract.requests import Address
from scoring.endpoints.keys import set_key
from scoring.endpoints.known_models import (
    abilities_of,
    check,
    check_state,
    known_model,
    model_at,
    request_check,
)
from scoring.errors import InvalidRun
from scoring.llm.capabilities import Abilities
from scoring.models import Endpoint, EndpointModel, Run
from scoring.runs import worker
from scoring.runs.worker import work_on_run
from tests.factories import make_member, make_project
from tests.scoring.asking_projects import MODEL, asking_plan, asking_project, asking_run
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db

EXPECTED = {"mode": "expected", "marks": "yes_no", "prompt": "described"}


def answer_with_probabilities(asked):
    return Answer("Yes", probabilities={"Yes": 0.75, "No": 0.25})


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    worker._loaded.clear()
    with ScriptedEndpoint(lambda _: Answer("Yes")) as server:
        yield server
    worker._loaded.clear()


def model_of(project, endpoint) -> EndpointModel:
    return model_at(project.pk, Address(endpoint.base_url, MODEL, "chat", "OPENAI_API_KEY"))


def work(run: Run) -> Run:
    work_on_run(run.pk, slice_s=600)
    run.refresh_from_db()
    return run


def judged(endpoint):
    """Return the requests about summaries, without those that check the model."""
    return [asked for asked in endpoint.asked if "Summary number" in asked.prompt]


def test_rows_are_created_once_with_or_without_a_trailing_slash():
    project = make_project()
    address = Address("https://llm.example.org/v1/", "m", "chat", "SOME_API_KEY")
    assert known_model(project.pk, address) is None
    assert model_at(project.pk, address) == model_at(project.pk, address)
    assert known_model(project.pk, address) == EndpointModel.objects.get()
    assert Endpoint.objects.get().base_url == "https://llm.example.org/v1"


class TestRuns:
    def test_greedy_run_does_not_check_the_model(self, endpoint):
        project = asking_project(3)
        assert work(asking_run(project, endpoint)).status == Run.Status.DONE
        assert len(endpoint.asked) == 3
        assert abilities_of(model_of(project, endpoint)) is None

    def test_capabilities_that_a_mode_needs_are_checked_once(self, endpoint):
        endpoint.answer = answer_with_probabilities
        project = asking_project(3)
        run = work(asking_run(project, endpoint, **EXPECTED))
        assert run.status == Run.Status.DONE, run.failure
        assert abilities_of(model_of(project, endpoint)).logprobs
        assert len(judged(endpoint)) == 3
        assert len(endpoint.asked) > 3

        endpoint.asked.clear()
        again = work(asking_run(project, endpoint, seed=1, **EXPECTED))
        assert again.status == Run.Status.DONE
        assert len(judged(endpoint)) == len(endpoint.asked)

    def test_run_fails_before_sending_a_summary_if_the_model_cannot_serve_its_mode(self, endpoint):
        project = asking_project(3)
        run = work(asking_run(project, endpoint, **EXPECTED))
        assert run.status == Run.Status.FAILED
        assert "shows no token probabilities (logprobs), which the mode expected needs" in run.failure
        assert not judged(endpoint)

    def test_mode_known_to_be_unsupported_is_refused_when_planning(self, endpoint):
        project = asking_project(3)
        model = model_of(project, endpoint)
        model.abilities = asdict(Abilities(logprobs=0))
        model.save()
        with pytest.raises(InvalidRun, match="shows no token probabilities"):
            asking_plan(project, endpoint, **EXPECTED)
        assert asking_plan(project, endpoint).to_score, "greedy mode needs no probabilities"
        assert asking_plan(asking_project(3), endpoint, **EXPECTED), "other projects have not checked it"


class TestChecks:
    @pytest.fixture
    def model(self, endpoint):
        return model_of(make_project(), endpoint)

    def test_worker_checks_the_model_on_request(
        self, endpoint, model, sent, django_capture_on_commit_callbacks
    ):
        endpoint.answer = answer_with_probabilities
        with django_capture_on_commit_callbacks(execute=True):
            request_check(model, make_member(model.endpoint.project, "manager"))
        assert check_state(model) == "checking"
        [message] = sent("llm")
        assert (message["task"], message["args"]) == ("scoring.tasks.check_endpoint_model", [model.pk])
        check(model.pk)
        model.refresh_from_db()
        assert check_state(model) != "checking"
        assert abilities_of(model).logprobs == 20
        assert (model.check_failure, model.checked_at is not None) == ("", True)

    def test_failed_check_gives_its_reason_without_the_key(self, endpoint, model):
        key = "sk-very-secret-1"
        manager = make_member(model.endpoint.project, "manager")
        set_key(model.endpoint, key, manager)
        error = {"error": {"message": f"Incorrect API key provided: {key}", "code": "invalid_api_key"}}
        endpoint.answer = lambda _: Answer(status=401, raw=json.dumps(error).encode())
        request_check(model, manager)
        check(model.pk)
        model.refresh_from_db()
        assert {asked.key for asked in endpoint.asked} == {f"Bearer {key}"}
        assert "Incorrect API key" in model.check_failure
        assert key not in model.check_failure
        assert check_state(model) != "checking"

    def test_check_without_a_key_says_so(self, monkeypatch):
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        far = Address("https://llm.example.org/v1", MODEL, "chat", "OPENAI_API_KEY")
        model = model_at(make_project().pk, far)
        check(model.pk)
        model.refresh_from_db()
        assert model.check_failure.startswith("there is no key for https://llm.example.org/v1")
        assert abilities_of(model) is None

    def test_check_is_overdue_if_no_worker_answers(self, model):
        request_check(model, make_member(model.endpoint.project, "manager"))
        assert check_state(model) != "overdue"
        model.check_asked_at = timezone.now() - timedelta(minutes=3)
        assert check_state(model) == "overdue"
        assert check_state(model) != "checking"

    def test_check_of_an_address_that_is_not_allowed_is_refused(self, model, settings):
        settings.LLM_ENDPOINTS = ["https://api.openai.com/v1"]
        with pytest.raises(DomainError, match="The operator of this server can add endpoints"):
            request_check(model, make_member(model.endpoint.project, "manager"))

    def test_researchers_cannot_request_a_check(self, model):
        with pytest.raises(NotAllowed):
            request_check(model, make_member(model.endpoint.project, "researcher"))

    def test_removed_model_is_not_checked(self, endpoint, model):
        model.delete()
        check(4711)
        assert not endpoint.asked
