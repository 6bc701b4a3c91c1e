"""The address of a client, for counting failed sign-ins."""

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """Return the client's address; behind a proxy, the address that the proxy has seen.

    Anybody can send X-Forwarded-For. The proxy appends to it, so only the last entry is trusted.
    """
    seen_here = request.META.get("REMOTE_ADDR", "")
    if not settings.BEHIND_HTTPS_PROXY:
        return seen_here
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    return forwarded[-1].strip() or seen_here
