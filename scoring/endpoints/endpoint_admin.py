"""Managing a project's endpoints: add and delete them, set limits, add and price models."""

from decimal import Decimal

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.text import capfirst

from annotation.errors import DomainError
from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.endpoints.offered_addresses import refusal_of
from scoring.llm.addresses import problem_of, same_address
from scoring.models import Endpoint, EndpointModel

APIS = ("chat", "completions")
PATHS_OF_REQUESTS = ("/chat/completions", "/completions")
"""Paths in providers' examples that do not belong to the base address."""
Prices = tuple[Decimal, Decimal]
"""US dollars per million prompt tokens, and per million reply tokens."""


class TakenName(DomainError):
    """An endpoint or model with this name exists already."""

    status = 409


def add_endpoint(project: Project, base_url: str, user: User) -> Endpoint:
    """Add an endpoint to the project, without a slash at the end of its address.

    Raises DomainError for an invalid address or one that the operator does not allow, TakenName for one that
    exists, and as `require`.
    """
    require(user, project, Permission.MANAGE_PROJECT)
    address = same_address(base_url)
    if problem := problem_of(address):
        raise DomainError(f"Found {base_url!r}, expected {problem}, for example https://api.openai.com/v1.")
    path = next((path for path in PATHS_OF_REQUESTS if address.endswith(path)), None)
    if path:
        raise DomainError(f"Leave out {path}, which requests add: {address.removesuffix(path)}")
    refusal = refusal_of(address)
    if refusal:
        raise DomainError(capfirst(refusal))
    endpoint, created = Endpoint.objects.get_or_create(project=project, base_url=address)
    if not created:
        raise TakenName(f"{address} exists already.")
    return endpoint


def change_limits(endpoint: Endpoint, user: User, **limits: int | None) -> None:
    """Set limits of the endpoint by the names of its fields, each at least 1; None for no known limit."""
    require(user, endpoint.project, Permission.MANAGE_PROJECT)
    for name, limit in limits.items():
        setattr(endpoint, name, limit)
    endpoint.save(update_fields=[*limits])


def remove_endpoint(endpoint: Endpoint, user: User) -> None:
    """Delete the endpoint with its key and limits, and its models' prices and capabilities."""
    require(user, endpoint.project, Permission.MANAGE_PROJECT)
    endpoint.delete()


def add_model(
    endpoint: Endpoint, name: str, api: str, user: User, prices: Prices | None = None
) -> EndpointModel:
    """Add a model, used through one of APIS. Raises TakenName if it exists."""
    require(user, endpoint.project, Permission.MANAGE_PROJECT)
    input_price, output_price = prices or (None, None)
    try:
        with transaction.atomic():
            return EndpointModel.objects.create(
                endpoint=endpoint, name=name, api=api, input_price=input_price, output_price=output_price
            )
    except IntegrityError as error:
        raise TakenName(f"{name} with {api} exists already.") from error


def set_prices(model: EndpointModel, prices: Prices | None, user: User) -> None:
    """Set the prices of new requests; None for no known price. Past costs stay."""
    require(user, model.endpoint.project, Permission.MANAGE_PROJECT)
    model.input_price, model.output_price = prices or (None, None)
    model.save(update_fields=["input_price", "output_price"])


def remove_model(model: EndpointModel, user: User) -> None:
    """Delete the model's prices and capabilities. Stored replies stay."""
    require(user, model.endpoint.project, Permission.MANAGE_PROJECT)
    model.delete()
