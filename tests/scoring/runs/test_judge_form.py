"""The form of a run with a language model: estimate, budget and three prompts."""

import re
from decimal import Decimal
from html import unescape

import pytest
from django.urls import reverse

from annotation.declared.settings import settings_of
from scoring.endpoints.endpoint_admin import add_endpoint, add_model
from scoring.endpoints.known_models import store_abilities
from scoring.evaluators import EVALUATORS, load_evaluator
from scoring.inputs.items import items_of
from scoring.llm.capabilities import Abilities
from scoring.models import JudgedDimension, Run, StoredReply
from scoring.runs import estimates
from scoring.runs.planning import plan
from tests.annotation.rating.rating_steps import signed_in
from tests.factories import make_member
from tests.scoring.asking_projects import asking_project
from tests.scoring.tiny_models import tiny_model

pytestmark = pytest.mark.django_db

ADDRESS = "http://127.0.0.1:9/v1"  # a closed port, since the form sends no request
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
    return signed_in(make_member(project, "researcher"))


def text_of(response):
    return " ".join(unescape(response.content.decode()).split())


def posted(client, project, action="preview", htmx=True, **changes):
    data = {**FORM, "action": action, **changes}
    return client.post(reverse("run_new", args=[project.slug]), data, **(HTMX if htmx else {}))


def test_preview_shows_requests_tokens_and_cost(client, project, model):
    page = text_of(posted(client, project))
    assert "<dt>Requests</dt> <dd> 5 </dd>" in page
    assert "80 in replies; at most" in page
    assert "<dt>Cost</dt> <dd> about <b>$0.00" in page
    assert "the maximum length" in page


def test_preview_marks_extrapolated_requests(client, project, model, monkeypatch):
    monkeypatch.setattr(estimates, "MOST_SAMPLED", 2)
    page = text_of(posted(client, project))
    assert re.search(r"<dt>Requests</dt> <dd> about \d+ </dd>", page)
    assert "Requests, tokens and cost are extrapolated from 2 summaries" in page


def test_preview_counts_stored_replies(client, project, model):
    planned = plan(project, "ice", {name.removeprefix("param_"): FORM[name] for name in list(FORM)[1:]})
    address = planned.evaluator.address
    requests = [
        request
        for item in items_of(planned.to_score, planned.needs).values()
        for request in planned.evaluator.requests(item)
        if item.article_id not in planned.evaluator.seen.all_article_ids
    ]
    for request in requests[:2]:
        StoredReply.objects.create(project=project, request=request.digest(address), text="0.5")
    assert "5 (2 from stored replies, at no cost)" in text_of(posted(client, project))


def test_preview_without_a_price_links_to_the_endpoints(client, project):
    page = text_of(posted(client, project))
    assert "Unknown. judge-1 has no price." in page
    assert reverse("endpoints", args=[project.slug]) in page


def test_dry_run_shows_three_prompts_and_starts_no_run(client, project):
    assert "prompt-text" not in text_of(posted(client, project))
    page = text_of(posted(client, project, "dry_run"))
    assert page.count("<summary>Prompt for summary") == 3
    assert page.count('tabindex="0"') == 6  # the system message and the prompt of each
    assert "Summary number 0." in page
    assert "The example." in page
    assert not Run.objects.exists()


def test_prompts_stay_in_later_previews(client, project):
    """Leaving a changed field for the button sends a preview after the dry run."""
    assert 'name="prompts" value="shown"' in text_of(posted(client, project, "dry_run"))
    assert text_of(posted(client, project, prompts="shown")).count("<summary>Prompt for summary") == 3


def test_prompts_are_escaped(client, project):
    project.summaries.update(text="<script>alert(1)</script>")
    shown = posted(client, project, "dry_run").content.decode()
    assert "&lt;script&gt;alert(1)" in shown
    assert "<script>alert" not in shown


def test_budget_is_stored_with_the_run(client, project, model):
    assert posted(client, project, "start", htmx=False, budget="2.50").status_code == 302
    assert Run.objects.get().budget == Decimal("2.5")


def test_run_without_a_budget_has_no_limit(client, project):
    assert posted(client, project, "start", htmx=False, budget="").status_code == 302
    assert Run.objects.get().budget is None


@pytest.mark.parametrize(
    ("budget", "message"),
    [("1", "needs a price for judge-1"), ("0", "greater than or equal"), ("x", "Enter a number")],
)
def test_invalid_budget_is_refused_beside_its_field(client, project, budget, message):
    response = posted(client, project, "start", htmx=False, budget=budget)
    assert response.status_code == 422
    assert message in str(response.context["form"].errors["budget"])
    assert not Run.objects.exists()


def test_preview_warns_of_a_budget_below_the_highest_cost(client, project, model):
    assert "may cost more than the budget" in text_of(posted(client, project, budget="0.0001"))
    assert "may cost more than the budget" not in text_of(posted(client, project, budget="100"))


@pytest.mark.parametrize(
    ("changes", "abilities", "field", "message"),
    [
        (
            {"param_mode": "expected", "param_marks": "yes_no"},
            Abilities(logprobs=0),
            "param_mode",
            "The endpoint shows no token probabilities",
        ),
        (
            {"param_prompt": "described", "param_structured": "on"},
            Abilities(json_schema=False),
            "param_structured",
            "does not support JSON schemas",
        ),
    ],
)
def test_unsupported_parameter_is_refused_beside_its_field(
    client, project, model, changes, abilities, field, message
):
    store_abilities(model, abilities)
    response = posted(client, project, "start", htmx=False, **changes)
    assert response.status_code == 422
    assert message in str(response.context["form"].errors[field])


def test_form_offers_known_endpoints_models_and_dimensions(client, project, model, settings):
    settings.LLM_ENDPOINTS = ["https://api.openai.com/v1", ADDRESS]
    JudgedDimension.objects.create(project=project, name="focus", description="On topic?", sees="article")
    page = text_of(client.get(reverse("run_new", args=[project.slug]) + "?evaluator=ice"))
    assert '<option value="http://127.0.0.1:9/v1">' in page
    assert '<option value="https://api.openai.com/v1">' in page
    assert '<option value="judge-1">' in page
    assert 'value="focus"' in page
    assert 'value="attribution"' in page


def test_first_groups_of_parameters_and_those_with_errors_are_open(client, project):
    form = posted(client, project, htmx=False, param_temperature="3").context["form"]
    groups = {group.title: [field.name for field in group.fields] for group in form.groups()}
    assert list(groups) == ["Model", "Prompt", "Score", "Examples", "Limits"]
    assert groups["Prompt"][:3] == ["param_prompt", "param_dimensions", "other_dimensions"]
    assert [group.title for group in form.groups() if group.is_open] == ["Model", "Prompt", "Score"]


def test_evaluator_groups_all_of_its_parameters_or_none(subtests):
    for name in EVALUATORS:
        with subtests.test(name=name):
            headings = [bool(spec.group) for spec in settings_of(load_evaluator(name).Params)]
            assert all(headings) or not any(headings)


def test_custom_dimensions_take_their_words_from_the_form(client, project):
    changes = {
        "other_dimensions": "style",
        "param_sees": "style=summary",
        "param_examples": "0",
        "param_prompt": "described",
        "param_descriptions": "style=Is it in good style?",
    }
    assert posted(client, project, "start", htmx=False, **changes).status_code == 302
    assert Run.objects.get().setup.params["dimensions"] == ["attribution", "style"]


def test_form_without_a_language_model_has_no_budget_and_no_dry_run(client, project):
    page = text_of(client.get(reverse("run_new", args=[project.slug]) + "?evaluator=length"))
    assert "Budget" not in page
    assert "Dry run" not in page


def test_local_model_costs_nothing_and_its_time_can_be_estimated(client, project, monkeypatch):
    folder = tiny_model("llama")
    monkeypatch.setenv("WEIGHTS_DIR", str(folder.parent))
    changes = {"param_api": "local_completions", "param_model": folder.name}
    page = text_of(posted(client, project, **changes))
    assert "costs nothing per token" in page
    assert "Estimate time" in page
    assert "Estimate time" not in text_of(posted(client, project))
    response = posted(client, project, "start", htmx=False, budget="1", **changes)
    assert "uses no endpoint" in str(response.context["form"].errors["budget"])
