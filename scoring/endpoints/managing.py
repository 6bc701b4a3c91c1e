"""What managers do with a project's endpoints: add, limit and remove them, name their models, set prices."""

from decimal import Decimal

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.text import capfirst

from annotation.errors import DomainError
from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.asking.addresses import is_endpoint_address, same_address
from scoring.endpoints.offered import refusal_of
from scoring.models import Endpoint, EndpointModel

APIS = ("chat", "completions")
PATHS_OF_REQUESTS = ("/chat/completions", "/completions")
"""What providers' examples write behind the address that is meant here."""
Prices = tuple[Decimal, Decimal]
"""US dollars for a million tokens: of the prompt, and of the reply."""


class TakenName(DomainError):
    """There is one already."""

    status = 409


def add_endpoint(project: Project, base_url: str, user: User) -> Endpoint:
    """An endpoint that the project knows from now on; a slash at the end of its address is left out.

    Raises DomainError for what is no address, for that of single requests and for one that the operator has
    not offered, TakenName for one that is there, and what `require` raises.
    """
    require(user, project, Permission.MANAGE_PROJECT)
    address = same_address(base_url)
    if not is_endpoint_address(address):
        raise DomainError(
            f"Found {base_url!r}, expected an http or https address without user and password, "
            "for example https://api.openai.com/v1."
        )
    path = next((path for path in PATHS_OF_REQUESTS if address.endswith(path)), None)
    if path:
        raise DomainError(f"Leave out {path}, which is added to each request: {address.removesuffix(path)}")
    refusal = refusal_of(address)
    if refusal:
        raise DomainError(capfirst(refusal))
    endpoint, created = Endpoint.objects.get_or_create(project=project, base_url=address)
    if not created:
        raise TakenName(f"{address} is in the list already.")
    return endpoint


def change_limits(
    endpoint: Endpoint,
    user: User,
    *,
    requests_per_minute: int | None,
    tokens_per_minute: int | None,
    most_in_flight: int,
) -> None:
    """Numbers from 1; None: no limit is known."""
    require(user, endpoint.project, Permission.MANAGE_PROJECT)
    endpoint.requests_per_minute = requests_per_minute
    endpoint.tokens_per_minute = tokens_per_minute
    endpoint.most_in_flight = most_in_flight
    endpoint.save(update_fields=["requests_per_minute", "tokens_per_minute", "most_in_flight"])


def remove_endpoint(endpoint: Endpoint, user: User) -> None:
    """Forget the endpoint with its key, its limits, and the prices and abilities of its models."""
    require(user, endpoint.project, Permission.MANAGE_PROJECT)
    endpoint.delete()


def add_model(
    endpoint: Endpoint, name: str, api: str, user: User, prices: Prices | None = None
) -> EndpointModel:
    """A model at the endpoint, asked through one of APIS. Raises TakenName if it is there."""
    require(user, endpoint.project, Permission.MANAGE_PROJECT)
    input_price, output_price = prices or (None, None)
    try:
        with transaction.atomic():
            return EndpointModel.objects.create(
                endpoint=endpoint, name=name, api=api, input_price=input_price, output_price=output_price
            )
    except IntegrityError as error:
        raise TakenName(f"{name} with {api} is in the list already.") from error


def set_prices(model: EndpointModel, prices: Prices | None, user: User) -> None:
    """What the model costs from now on; what has been paid stays as it was. None: no price is known."""
    require(user, model.endpoint.project, Permission.MANAGE_PROJECT)
    model.input_price, model.output_price = prices or (None, None)
    model.save(update_fields=["input_price", "output_price"])


def remove_model(model: EndpointModel, user: User) -> None:
    """Forget the model's price and what is known of its abilities; stored replies stay."""
    require(user, model.endpoint.project, Permission.MANAGE_PROJECT)
    model.delete()
