"""What a project knows of models: found out once, remembered, and used to refuse what cannot be."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.errors import DomainError, NotAllowed
from scoring import working
from scoring.asking.abilities import Abilities
from scoring.asking.request import Address
from scoring.endpoints.keys import set_key
from scoring.endpoints.remembered import (
    abilities_of,
    ask_for_check,
    check,
    is_being_checked,
    is_overdue,
    known_model,
    model_at,
)
from scoring.errors import InvalidRun
from scoring.models import Endpoint, EndpointModel, Run
from scoring.working import work_on_run
from tests.factories import make_member, make_project
from tests.scoring.asking_projects import MODEL, asking_plan, asking_project, asking_run
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db

EXPECTED = {"mode": "expected", "marks": "yes_no", "prompt": "described"}


def shows_probabilities(asked):
    return Answer("Yes", probabilities={"Yes": 0.75, "No": 0.25})


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    working._loaded.clear()
    with ScriptedEndpoint(lambda _: Answer("Yes")) as server:
        yield server
    working._loaded.clear()


def model_of(project, endpoint) -> EndpointModel:
    return model_at(project.pk, Address(endpoint.base_url, MODEL, "chat", "OPENAI_API_KEY"))


def work(run: Run) -> Run:
    work_on_run(run.pk, slice_s=600)
    run.refresh_from_db()
    return run


def judged(endpoint):
    """What was asked of summaries, beside questions that only try the model."""
    return [asked for asked in endpoint.asked if "Summary number" in asked.prompt]


def test_rows_are_made_once_whatever_ends_the_address():
    project = make_project()
    address = Address("https://llm.example.org/v1/", "m", "chat", "SOME_API_KEY")
    assert known_model(project.pk, address) is None
    assert model_at(project.pk, address) == model_at(project.pk, address)
    assert known_model(project.pk, address) == EndpointModel.objects.get()
    assert Endpoint.objects.get().base_url == "https://llm.example.org/v1"


class TestRuns:
    def test_the_plainest_way_of_asking_tries_nothing(self, endpoint):
        project = asking_project(3)
        assert work(asking_run(project, endpoint)).status == Run.Status.DONE
        assert len(endpoint.asked) == 3
        assert abilities_of(model_of(project, endpoint)) is None

    def test_what_a_mode_needs_is_found_out_once(self, endpoint):
        endpoint.answer = shows_probabilities
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

    def test_a_mode_that_the_model_cannot_serve_ends_the_run_before_a_summary_is_sent(self, endpoint):
        project = asking_project(3)
        run = work(asking_run(project, endpoint, **EXPECTED))
        assert run.status == Run.Status.FAILED
        assert "shows no probabilities of tokens (logprobs), which the mode expected needs" in run.failure
        assert not judged(endpoint)

    def test_what_is_known_to_be_impossible_is_refused_at_once(self, endpoint):
        project = asking_project(3)
        model = model_of(project, endpoint)
        model.abilities = Abilities(logprobs=0).as_json()
        model.save()
        with pytest.raises(InvalidRun, match="shows no probabilities"):
            asking_plan(project, endpoint, **EXPECTED)
        assert asking_plan(project, endpoint).to_score, "greedy needs none"
        assert asking_plan(asking_project(3), endpoint, **EXPECTED), "another project knows nothing of it"


class TestChecks:
    @pytest.fixture
    def model(self, endpoint):
        return model_of(make_project(), endpoint)

    def test_a_worker_is_asked_and_finds_out(self, endpoint, model, sent, django_capture_on_commit_callbacks):
        endpoint.answer = shows_probabilities
        with django_capture_on_commit_callbacks(execute=True):
            ask_for_check(model, make_member(model.endpoint.project, "manager"))
        assert is_being_checked(model)
        [message] = sent("llm")
        assert (message["task"], message["args"]) == ("scoring.tasks.check_endpoint_model", [model.pk])
        check(model.pk)
        model.refresh_from_db()
        assert not is_being_checked(model)
        assert abilities_of(model).logprobs == 20
        assert (model.check_failure, model.checked_at is not None) == ("", True)

    def test_why_nothing_is_known_is_said_without_the_key(self, endpoint, model):
        key = "sk-very-secret-1"
        manager = make_member(model.endpoint.project, "manager")
        set_key(model.endpoint, key, manager)
        error = {"error": {"message": f"Incorrect API key provided: {key}", "code": "invalid_api_key"}}
        endpoint.answer = lambda _: Answer(status=401, raw=json.dumps(error).encode())
        ask_for_check(model, manager)
        check(model.pk)
        model.refresh_from_db()
        assert {asked.key for asked in endpoint.asked} == {f"Bearer {key}"}
        assert "Incorrect API key" in model.check_failure
        assert key not in model.check_failure
        assert not is_being_checked(model)

    def test_without_a_key_it_says_so(self, monkeypatch):
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        far = Address("https://llm.example.org/v1", MODEL, "chat", "OPENAI_API_KEY")
        model = model_at(make_project().pk, far)
        check(model.pk)
        model.refresh_from_db()
        assert model.check_failure.startswith("there is no key for https://llm.example.org/v1")
        assert abilities_of(model) is None

    def test_where_no_worker_answers_it_is_overdue(self, model):
        ask_for_check(model, make_member(model.endpoint.project, "manager"))
        assert not is_overdue(model)
        model.check_asked_at = timezone.now() - timedelta(minutes=3)
        assert is_overdue(model)
        assert not is_being_checked(model)

    def test_addresses_that_are_not_offered_get_no_key_of_the_worker(self, model, settings):
        settings.LLM_ENDPOINTS = ["https://api.openai.com/v1"]
        with pytest.raises(DomainError, match="The operator of this server can add endpoints"):
            ask_for_check(model, make_member(model.endpoint.project, "manager"))

    def test_researchers_check_nothing(self, model):
        with pytest.raises(NotAllowed):
            ask_for_check(model, make_member(model.endpoint.project, "researcher"))

    def test_a_model_that_was_removed_is_not_checked(self, endpoint, model):
        model.delete()
        check(4711)
        assert not endpoint.asked
