"""API responses for domain errors and for those of Django REST framework."""

from typing import Any

from rest_framework.exceptions import NotAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import exception_handler

from annotation.errors import (
    ContradictoryAnswers,
    DomainError,
    InvalidAnswers,
    NotSignedIn,
    TryAgainLater,
)
from annotation.web.problems import PROBLEM, problem


def domain_error_response(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Return the refusal as problem details, in JSON whatever the view renders; None for a server error."""
    refusal = _refusal(exception, context)
    if refusal is not None:
        refusal.content_type = PROBLEM
        context["request"].accepted_renderer = JSONRenderer()
        context["request"].accepted_media_type = JSONRenderer.media_type
    return refusal


def _refusal(exception: Exception, context: dict[str, Any]) -> Response | None:
    if isinstance(exception, NotSignedIn):
        challenge = context["view"].get_authenticate_header(context["request"])
        told = problem(NotAuthenticated.status_code, str(NotAuthenticated.default_detail))
        return Response(told, NotAuthenticated.status_code, headers={"WWW-Authenticate": challenge})
    if isinstance(exception, DomainError):
        later = {"Retry-After": str(exception.after_s)} if isinstance(exception, TryAgainLater) else None
        told = problem(exception.status, str(exception))
        if isinstance(exception, InvalidAnswers | ContradictoryAnswers):
            told["questions"] = exception.fields
        return Response(told, status=exception.status, headers=later)
    refusal = exception_handler(exception, context)
    if refusal is not None:
        refusal.data = problem(refusal.status_code, str(refusal.data["detail"]))
    return refusal
