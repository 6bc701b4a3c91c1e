"""Managers' actions on endpoints, and their refusals."""

from decimal import Decimal

import pytest

from annotation.errors import DomainError, NotAllowed, NotFound
from scoring.endpoints.endpoint_admin import (
    TakenName,
    add_endpoint,
    add_model,
    change_limits,
    remove_endpoint,
    remove_model,
    set_prices,
)
from scoring.models import Endpoint, EndpointModel
from tests.factories import make_member, make_project, make_user

pytestmark = pytest.mark.django_db

ADDRESS = "https://llm.example.org/v1"


@pytest.fixture
def endpoint(project, manager):
    return add_endpoint(project, ADDRESS, manager)


def test_trailing_slash_does_not_make_another_address(endpoint, project, manager):
    assert endpoint.base_url == ADDRESS
    with pytest.raises(TakenName, match="exists already"):
        add_endpoint(project, f" {ADDRESS}/", manager)


@pytest.mark.parametrize("path", ["/chat/completions", "/completions/"])
def test_address_of_a_single_method_is_refused_with_the_part_to_leave_out(project, manager, path):
    with pytest.raises(DomainError, match=f"Leave out {path.rstrip('/')}.*: {ADDRESS}$"):
        add_endpoint(project, ADDRESS + path, manager)
    assert not Endpoint.objects.exists()


def test_other_projects_may_have_the_same_address(endpoint):
    other = make_project()
    assert add_endpoint(other, ADDRESS, make_member(other, "manager")).pk != endpoint.pk


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("llm.example.org", "an http or https address"),
        ("ftp://x", "an http or https address"),
        ("https://me:secret@llm.example.org/v1", "an address without user and password"),
        ("https://llm.example.org:99999/v1", "a port from 1 to 65535"),
    ],
)
def test_invalid_address_is_refused(project, manager, address, expected):
    with pytest.raises(DomainError, match=f"expected .*{expected}"):
        add_endpoint(project, address, manager)
    assert not Endpoint.objects.exists()


def test_operator_limits_which_addresses_may_be_added(project, manager, settings):
    settings.LLM_ENDPOINTS = [ADDRESS]
    add_endpoint(project, f"{ADDRESS}/", manager)
    with pytest.raises(DomainError, match=rf"Found 'http://127\.0\.0\.1', expected one of {ADDRESS}"):
        add_endpoint(project, "http://127.0.0.1", manager)


def test_manager_changes_limits(endpoint, manager):
    change_limits(endpoint, manager, requests_per_minute=60, tokens_per_minute=None, most_in_flight=4)
    endpoint.refresh_from_db()
    assert (endpoint.requests_per_minute, endpoint.tokens_per_minute, endpoint.most_in_flight) == (
        60,
        None,
        4,
    )


def test_prices_are_exact_and_can_be_removed(endpoint, manager):
    model = add_model(endpoint, "m", "chat", manager)
    set_prices(model, (Decimal("0.150001"), Decimal("0.6")), manager)
    model.refresh_from_db()
    assert (model.input_price, model.output_price) == (Decimal("0.150001"), Decimal("0.6"))
    set_prices(model, None, manager)
    model.refresh_from_db()
    assert (model.input_price, model.output_price) == (None, None)


def test_model_is_listed_once_per_api(endpoint, manager):
    add_model(endpoint, "m", "chat", manager)
    add_model(endpoint, "m", "completions", manager)
    with pytest.raises(TakenName, match="m with chat exists already"):
        add_model(endpoint, "m", "chat", manager)
    assert EndpointModel.objects.count() == 2


def test_removing_an_endpoint_removes_its_models(endpoint, manager):
    model = add_model(endpoint, "m", "chat", manager)
    add_model(endpoint, "n", "chat", manager, (Decimal(1), Decimal(2)))
    remove_model(model, manager)
    assert EndpointModel.objects.get().name == "n"
    remove_endpoint(endpoint, manager)
    assert not Endpoint.objects.exists()
    assert not EndpointModel.objects.exists()


@pytest.mark.parametrize("role", ["researcher", "stranger"])
def test_only_managers_change_endpoints(endpoint, project, manager, role):
    user = make_user() if role == "stranger" else make_member(project, role)
    model = add_model(endpoint, "m", "chat", manager)
    limits = {"requests_per_minute": 1, "tokens_per_minute": 1, "most_in_flight": 1}
    for act in (
        lambda: add_endpoint(project, "https://other.example", user),
        lambda: change_limits(endpoint, user, **limits),
        lambda: add_model(endpoint, "n", "chat", user),
        lambda: set_prices(model, (Decimal(1), Decimal(1)), user),
        lambda: remove_model(model, user),
        lambda: remove_endpoint(endpoint, user),
    ):
        with pytest.raises((NotAllowed, NotFound)):
            act()
    assert EndpointModel.objects.get().input_price is None
    assert Endpoint.objects.get().requests_per_minute is None
