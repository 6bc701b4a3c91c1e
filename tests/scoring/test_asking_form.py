"""The form of a run that asks a model: what it would ask and cost, its budget, and three prompts."""

from decimal import Decimal
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from scoring.asking.abilities import Abilities
from scoring.endpoints.managing import add_endpoint, add_model
from scoring.endpoints.remembered import remember
from scoring.evaluators import EVALUATORS, load_evaluator
from scoring.items import items_of
from scoring.models import JudgedDimension, Run, StoredReply
from scoring.params import declared_params
from scoring.planning import plan
from tests.factories import make_member
from tests.scoring.asking_projects import asking_project
from tests.scoring.tiny_models import tiny_model

pytestmark = pytest.mark.django_db

ADDRESS = "http://127.0.0.1:9/v1"  # nobody listens there: nothing is sent
FORM = {
    "evaluator": "ice",
    "param_model": "judge-1",
    "param_base_url": ADDRESS,
    "param_dimensions": "attribution",
    "param_examples": "1",
    "param_pool_articles": "1",
}
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def project():
    return asking_project(5)


@pytest.fixture
def model(project):
    manager = make_member(project, "manager")
    return add_model(
        add_endpoint(project, ADDRESS, manager), "judge-1", "chat", manager, (Decimal(1), Decimal(2))
    )


@pytest.fixture
def client(project):
    client = Client()
    client.force_login(make_member(project, "researcher"))
    return client


def text_of(response):
    return unescape(response.content.decode())


def posted(client, project, action="preview", htmx=True, **changes):
    data = {**FORM, "action": action, **changes}
    return client.post(reverse("run_new", args=[project.slug]), data, **(HTMX if htmx else {}))


def test_the_preview_tells_requests_tokens_and_cost(client, project, model):
    page = text_of(posted(client, project))
    assert "<dt>Requests</dt><dd>5</dd>" in page
    assert "80 of replies; at most" in page
    assert "<dt>Cost</dt><dd>about <b>$0.00" in page
    assert "the longest is expected" in page


def test_what_is_stored_already_is_told(client, project, model):
    planned = plan(project, "ice", {name.removeprefix("param_"): FORM[name] for name in list(FORM)[1:]})
    address = planned.evaluator.address
    requests = [
        request
        for item in items_of(planned.to_score, planned.needs).values()
        for request in planned.evaluator.requests(item)
        if item.article_id not in planned.evaluator.seen.article_ids
    ]
    for request in requests[:2]:
        StoredReply.objects.create(project=project, request=request.digest(address), text="0.5")
    assert "5, of which 2 are answered already" in text_of(posted(client, project))


def test_without_a_price_it_says_so_and_where_prices_are(client, project):
    page = text_of(posted(client, project))
    assert "not known. No price is known for judge-1" in page
    assert reverse("endpoints", args=[project.slug]) in page


def test_the_dry_run_shows_three_prompts_and_starts_nothing(client, project):
    assert "prompt-text" not in text_of(posted(client, project))
    page = text_of(posted(client, project, "dry_run"))
    assert page.count("<summary>Prompt for summary") == 3
    assert page.count('tabindex="0"') == 6  # the system message and the prompt of each
    assert "Summary number 0." in page
    assert "The example." in page
    assert not Run.objects.exists()


def test_prompts_stay_in_later_previews(client, project):
    """A field that is left for the button has changed, so that its preview comes behind the dry run."""
    assert 'name="prompts" value="shown"' in text_of(posted(client, project, "dry_run"))
    assert text_of(posted(client, project, prompts="shown")).count("<summary>Prompt for summary") == 3


def test_prompts_are_shown_as_text_and_not_as_marks_of_the_page(client, project):
    project.summaries.update(text="<script>alert(1)</script>")
    shown = posted(client, project, "dry_run").content.decode()
    assert "&lt;script&gt;alert(1)" in shown
    assert "<script>alert" not in shown


def test_a_budget_is_kept_with_the_run(client, project, model):
    assert posted(client, project, "start", htmx=False, budget="2.50").status_code == 302
    assert Run.objects.get().budget == Decimal("2.5")


def test_without_a_budget_there_is_no_limit(client, project):
    assert posted(client, project, "start", htmx=False, budget="").status_code == 302
    assert Run.objects.get().budget is None


@pytest.mark.parametrize(
    ("budget", "message"),
    [("1", "No price is known for judge-1"), ("0", "greater than or equal"), ("x", "Enter a number")],
)
def test_a_budget_that_cannot_be_kept_is_refused_beside_its_field(client, project, budget, message):
    response = posted(client, project, "start", htmx=False, budget=budget)
    assert response.status_code == 422
    assert message in str(response.context["form"].errors["budget"])
    assert not Run.objects.exists()


def test_a_budget_below_the_most_is_told_to_end_early(client, project, model):
    assert "may pause before its end" in text_of(posted(client, project, budget="0.0001"))
    assert "may pause before its end" not in text_of(posted(client, project, budget="100"))


@pytest.mark.parametrize(
    ("changes", "abilities", "field", "message"),
    [
        (
            {"param_mode": "expected", "param_marks": "yes_no"},
            Abilities(logprobs=0),
            "param_mode",
            "The endpoint shows no probabilities of tokens",
        ),
        (
            {"param_prompt": "described", "param_structured": "on"},
            Abilities(json_schema=False),
            "param_structured",
            "does not hold replies to a JSON schema",
        ),
    ],
)
def test_what_the_model_cannot_do_is_refused_beside_the_parameter(
    client, project, model, changes, abilities, field, message
):
    remember(model, abilities)
    response = posted(client, project, "start", htmx=False, **changes)
    assert response.status_code == 422
    assert message in str(response.context["form"].errors[field])


def test_endpoints_models_and_dimensions_that_are_known_are_offered(client, project, model, settings):
    settings.LLM_ENDPOINTS = ["https://api.openai.com/v1", ADDRESS]
    JudgedDimension.objects.create(project=project, name="focus", description="On topic?", sees="article")
    page = text_of(client.get(reverse("run_new", args=[project.slug]) + "?evaluator=ice"))
    assert '<option value="http://127.0.0.1:9/v1">' in page
    assert '<option value="https://api.openai.com/v1">' in page
    assert '<option value="judge-1">' in page
    assert 'value="focus"' in page
    assert 'value="attribution"' in page


def test_parameters_stand_under_headings_of_which_the_first_and_wrong_ones_are_open(client, project):
    form = posted(client, project, htmx=False, param_temperature="3").context["form"]
    groups = {group.title: [field.name for field in group.fields] for group in form.groups()}
    assert list(groups) == ["Model", "Prompt", "Score", "Examples", "Limits"]
    assert groups["Prompt"][:3] == ["param_prompt", "param_dimensions", "other_dimensions"]
    assert [group.title for group in form.groups() if group.is_open] == ["Model", "Prompt", "Score"]


@pytest.mark.parametrize("name", EVALUATORS)
def test_an_evaluator_with_headings_has_every_parameter_under_one(name):
    headings = [bool(spec.group) for spec in declared_params(load_evaluator(name).Params)]
    assert all(headings) or not any(headings)


def test_dimensions_of_other_names_take_their_words_from_the_form(client, project):
    changes = {
        "other_dimensions": "style",
        "param_sees": "style=summary",
        "param_examples": "0",
        "param_prompt": "described",
        "param_descriptions": "style=Is it in good style?",
    }
    assert posted(client, project, "start", htmx=False, **changes).status_code == 302
    assert Run.objects.get().setup.params["dimensions"] == ["attribution", "style"]


def test_evaluators_that_ask_no_model_have_neither_budget_nor_dry_run(client, project):
    page = text_of(client.get(reverse("run_new", args=[project.slug]) + "?evaluator=length"))
    assert "Budget" not in page
    assert "Dry run" not in page


def test_a_model_on_this_machine_costs_nothing_and_its_time_can_be_estimated(client, project, monkeypatch):
    folder = tiny_model("llama")
    monkeypatch.setenv("WEIGHTS_DIR", str(folder.parent))
    changes = {"param_api": "local_completions", "param_model": folder.name}
    page = text_of(posted(client, project, **changes))
    assert "nothing is paid by the token" in page
    assert "Estimate the time" in page
    assert "Estimate the time" not in text_of(posted(client, project))
    response = posted(client, project, "start", htmx=False, budget="1", **changes)
    assert "asks no endpoint" in str(response.context["form"].errors["budget"])
