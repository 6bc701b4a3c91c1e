"""Turns what the domain refuses into an API response."""

from typing import Any

from rest_framework.response import Response
from rest_framework.views import exception_handler

from annotation.errors import DomainError


def domain_error_response(exception: Exception, context: dict[str, Any]) -> Response | None:
    if isinstance(exception, DomainError):
        return Response({"detail": str(exception)}, status=exception.status)
    return exception_handler(exception, context)
