"""Every address, requested as a browser does."""

from collections.abc import Iterator

from django.db import transaction
from django.http import HttpResponse
from django.test import Client

from tests.addresses import ARGUMENTS, address_of
from tests.campaigns import Campaign

PAYLOAD = "'\"><script>alert(1)</script><img src=x onerror=alert(2)>"
"""Used in names of the project, users, systems and files, and in articles, comments and reasons."""


def pages(client: Client, campaign: Campaign, **parameters: str) -> Iterator[tuple[str, HttpResponse]]:
    """Yield the name and the GET response of every address."""
    for name in ARGUMENTS:
        with transaction.atomic():
            yield name, client.get(address_of(name, campaign.ids_for(name)), parameters)
            transaction.set_rollback(True)


def text_of(response: HttpResponse) -> str:
    return (b"".join(response.streaming_content) if response.streaming else response.content).decode()
