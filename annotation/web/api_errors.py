"""API responses for domain errors."""

from typing import Any

from rest_framework.exceptions import NotAuthenticated
from rest_framework.response import Response
from rest_framework.views import exception_handler

from annotation.errors import (
    ContradictoryAnswers,
    DomainError,
    InvalidAnswers,
    NotSignedIn,
    TryAgainLater,
)


def domain_error_response(exception: Exception, context: dict[str, Any]) -> Response | None:
    if isinstance(exception, NotSignedIn):
        challenge = context["view"].get_authenticate_header(context["request"])
        detail = {"detail": NotAuthenticated.default_detail}
        return Response(detail, NotAuthenticated.status_code, headers={"WWW-Authenticate": challenge})
    if isinstance(exception, DomainError):
        later = {"Retry-After": str(exception.after_s)} if isinstance(exception, TryAgainLater) else None
        told: dict[str, Any] = {"detail": str(exception)}
        if isinstance(exception, InvalidAnswers | ContradictoryAnswers):
            told["questions"] = exception.fields
        return Response(told, status=exception.status, headers=later)
    return exception_handler(exception, context)
