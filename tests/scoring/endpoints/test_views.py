"""Pages of endpoints: keys are never shown, prices are exact, errors are beside their fields."""

from decimal import Decimal
from html import unescape

import pytest
from django.urls import reverse

from scoring.contract.requests import Address
from scoring.endpoints.endpoint_admin import add_endpoint, add_model
from scoring.endpoints.keys import key_for, set_key
from scoring.models import Endpoint, EndpointModel
from tests.annotation.rating.rating_steps import signed_in
from tests.factories import make_member

pytestmark = pytest.mark.django_db

ADDRESS = "https://llm.example.org/v1"
KEY = "sk-Xq7-never-shown"


@pytest.fixture
def user(project):
    return make_member(project, "manager")


@pytest.fixture
def manager(user):
    return signed_in(user)


@pytest.fixture
def researcher(project):
    return signed_in(make_member(project, "researcher"))


@pytest.fixture
def endpoint(project, user):
    return add_endpoint(project, ADDRESS, user)


@pytest.fixture
def model(endpoint, user):
    return add_model(endpoint, "judge-large", "chat", user)


def at(name, project, *args):
    return reverse(name, args=[project.slug, *args])


def text_of(response):
    return " ".join(unescape(response.content.decode()).split())


def stored_key(project):
    return key_for(project.pk, Address(ADDRESS, "m", "chat", "NO_API_KEY"))


def test_manager_adds_an_endpoint_with_its_key(manager, project):
    response = manager.post(at("endpoints", project), {"base_url": f"{ADDRESS}/", "key": KEY})
    endpoint = Endpoint.objects.get()
    assert response["Location"] == at("endpoint", project, endpoint.pk)
    assert endpoint.base_url == ADDRESS
    assert stored_key(project) == KEY


@pytest.mark.parametrize(
    "address",
    [
        "llm.example.org",
        "ftp://llm.example.org",
        "http://[",
        "https://me:pw@llm.example.org",
        "https://llm.example.org:99999/v1",
        "https://llm.example.org:0/v1",
        "https://llm.example.org/v 1",
        "https://llm.example.org/v1?a=b",
        "https://llm.example.org/v1#a",
    ],
)
def test_form_shows_an_invalid_address_again_but_not_the_key(manager, project, address):
    response = manager.post(at("endpoints", project), {"base_url": address, "key": KEY})
    assert response.status_code == 422
    assert "base_url" in response.context["form"].errors
    assert address in text_of(response)
    assert KEY not in text_of(response)
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize("sign", ["\r", "\n", "\r\n", "\t"])
def test_control_characters_in_an_address_are_refused_at_its_field(manager, project, sign):
    response = manager.post(at("endpoints", project), {"base_url": f"https://llm.example.org/{sign}v1"})
    assert response.status_code == 422
    assert "base_url" in response.context["form"].errors
    assert not Endpoint.objects.exists()


def test_address_that_the_operator_does_not_allow_is_refused(manager, project, settings):
    settings.LLM_ENDPOINTS = ["https://api.openai.com/v1"]
    response = manager.post(at("endpoints", project), {"base_url": ADDRESS})
    assert "expected one of https://api.openai.com/v1" in text_of(response)


def test_endpoint_is_not_added_twice(manager, project, endpoint):
    response = manager.post(at("endpoints", project), {"base_url": ADDRESS})
    assert response.status_code == 422
    assert "exists already" in text_of(response)


def test_invalid_key_is_refused_without_showing_it(manager, project, endpoint):
    response = manager.post(at("endpoint_key", project, endpoint.pk), {"key": f"{KEY}\u00e9"})
    assert response.status_code == 422
    assert "ASCII letters" in text_of(response)
    assert KEY not in text_of(response)
    response = manager.post(
        at("endpoints", project), {"base_url": "https://b.example", "key": f"{KEY}\u00e9"}, follow=True
    )
    assert "Key not saved. Found" in text_of(response)
    assert KEY not in text_of(response)


def test_manager_replaces_a_key_and_confirms_its_removal(manager, project, endpoint):
    manager.post(at("endpoint_key", project, endpoint.pk), {"key": "first"})
    manager.post(at("endpoint_key", project, endpoint.pk), {"key": KEY})
    assert stored_key(project) == KEY
    here = at("endpoint_key_remove", project, endpoint.pk)
    assert "still accepts the key until you revoke it" in text_of(manager.get(here))
    assert stored_key(project) == KEY
    manager.post(here)
    assert Endpoint.objects.get().encrypted_key == ""


def test_no_page_shows_a_key_or_its_encrypted_form(manager, researcher, project, user, endpoint, model):
    set_key(endpoint, KEY, user)
    pages = [
        at("endpoints", project),
        at("endpoint", project, endpoint.pk),
        at("endpoint_key_remove", project, endpoint.pk),
        at("endpoint_remove", project, endpoint.pk),
        at("endpoint_model_remove", project, endpoint.pk, model.pk),
        at("runs", project),
        at("run_new", project) + "?evaluator=ice",
    ]
    for client in (manager, researcher):
        for page in pages:
            shown = text_of(client.get(page))
            assert KEY not in shown
            assert endpoint.encrypted_key not in shown
    for client in (manager, researcher):
        shown = text_of(client.get(at("endpoint", project, endpoint.pk)))
        assert f'Set on <time datetime="{endpoint.key_set_at:%Y-%m-%d}' in shown


def test_researcher_reads_but_cannot_change_endpoints(researcher, project, endpoint, model):
    page = text_of(researcher.get(at("endpoint", project, endpoint.pk)))
    assert "judge-large" in page
    main = page[page.index("<main") :]
    assert "<form" not in main
    assert "<input" not in main
    listed = text_of(researcher.get(at("endpoints", project)))
    assert "Add an endpoint" not in listed
    assert researcher.post(at("endpoints", project), {"base_url": "https://b.example"}).status_code == 403


def test_limits_are_saved_and_invalid_ones_refused(manager, project, endpoint):
    here = at("endpoint_limits", project, endpoint.pk)
    manager.post(here, {"requests_per_minute": "60", "tokens_per_minute": "", "most_in_flight": "4"})
    endpoint.refresh_from_db()
    assert (endpoint.requests_per_minute, endpoint.tokens_per_minute, endpoint.most_in_flight) == (
        60,
        None,
        4,
    )
    response = manager.post(here, {"requests_per_minute": "0", "most_in_flight": ""})
    assert response.status_code == 422
    assert set(response.context["limits_form"].errors) == {"requests_per_minute", "most_in_flight"}
    listed = text_of(manager.get(at("endpoints", project)))
    assert "60 requests a minute, at most 4 at a time" in listed


def test_prices_are_exact_and_saved_all_together(manager, project, user, endpoint, model):
    other = add_model(endpoint, "judge-small", "chat", user)
    here = at("endpoint_prices", project, endpoint.pk)
    one, two = f"model-{model.pk}", f"model-{other.pk}"
    sent = {f"{one}-input_price": "2.500001", f"{one}-output_price": "10", f"{two}-input_price": "0.15"}
    response = manager.post(here, sent)
    assert response.status_code == 422
    assert "Enter both prices or neither" in text_of(response)
    assert not EndpointModel.objects.filter(input_price__isnull=False).exists()
    manager.post(here, {**sent, f"{two}-output_price": "0"})
    model.refresh_from_db()
    other.refresh_from_db()
    assert (model.input_price, model.output_price) == (Decimal("2.500001"), Decimal(10))
    assert (other.input_price, other.output_price) == (Decimal("0.15"), Decimal(0))
    page = text_of(manager.get(at("endpoint", project, endpoint.pk)))
    assert 'value="2.500001"' in page
    assert 'value="10"' in page


@pytest.mark.parametrize(
    ("price", "message"),
    [
        ("-1", "greater than or equal to 0"),
        ("cheap", "Enter a number"),
        ("NaN", "Enter a number"),
        ("0.0000001", "6 decimal places"),
        ("10000000", "digits"),
    ],
)
def test_invalid_price_is_refused(manager, project, endpoint, model, price, message):
    sent = {f"model-{model.pk}-input_price": price, f"model-{model.pk}-output_price": "1"}
    response = manager.post(at("endpoint_prices", project, endpoint.pk), sent)
    assert response.status_code == 422
    assert message in text_of(response)
    model.refresh_from_db()
    assert model.input_price is None


def test_manager_adds_a_model_with_its_prices_once(manager, project, endpoint):
    here = at("endpoint_model_new", project, endpoint.pk)
    sent = {"new-name": "judge", "new-api": "chat", "new-input_price": "1", "new-output_price": "4"}
    manager.post(here, sent)
    assert EndpointModel.objects.get().output_price == 4
    response = manager.post(here, sent)
    assert response.status_code == 422
    assert "judge with chat exists already" in text_of(response)
    manager.post(here, {**sent, "new-api": "completions", "new-input_price": "", "new-output_price": ""})
    assert EndpointModel.objects.get(api="completions").input_price is None


def test_removal_needs_a_confirmation(manager, project, endpoint, model):
    here = at("endpoint_model_remove", project, endpoint.pk, model.pk)
    assert "Without a price" in text_of(manager.get(here))
    manager.post(here)
    assert not EndpointModel.objects.exists()
    here = at("endpoint_remove", project, endpoint.pk)
    assert "stored replies stay" in text_of(manager.get(here))
    assert Endpoint.objects.exists()
    manager.post(here)
    assert not Endpoint.objects.exists()
