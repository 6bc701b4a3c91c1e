"""A limit on how often a program changes something through the API."""

import math
from typing import TYPE_CHECKING

from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from annotation.errors import TooManyRequests
from annotation.models import ApiToken

if TYPE_CHECKING:
    from rest_framework.views import APIView  # which imports this module


class WriteLimit(SimpleRateThrottle):
    """Counts the changing requests of a token, or of a person without one, in this process."""

    scope = "writes"
    num_requests: int

    def get_cache_key(self, request: Request, view: "APIView") -> str | None:  # noqa: ARG002
        """Return whom a request is counted for; None if it is not counted."""
        if request.method in SAFE_METHODS:
            return None
        if isinstance(request.auth, ApiToken):
            return f"token-{request.auth.token_hash}"
        return f"user-{request.user.pk}"

    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Return True. Raises TooManyRequests beyond the limit."""
        if super().allow_request(request, view):
            return True
        raise TooManyRequests(
            f"You have sent more than {self.num_requests} changes within a minute.",
            math.ceil(self.wait() or 1),
        )
