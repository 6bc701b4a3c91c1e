"""Where a request comes from, for counting failed sign-ins."""

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The address of the person's computer: behind a proxy, the one that the proxy itself has seen.

    Anybody can send X-Forwarded-For; a proxy adds to its end, so only the last entry is to be believed.
    """
    seen_here = request.META.get("REMOTE_ADDR", "")
    if not settings.BEHIND_HTTPS_PROXY:
        return seen_here
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    return forwarded[-1].strip() or seen_here
