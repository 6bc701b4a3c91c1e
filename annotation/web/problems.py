"""Refusals of the API as problem details (RFC 9457). Needs no models, so that any middleware can use it."""

from http import HTTPStatus
from typing import Any

from django.http import JsonResponse

PROBLEM = "application/problem+json"


def problem(status: int, detail: str) -> dict[str, Any]:
    """Return the members that every refusal has."""
    return {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}


def problem_response(status: int, detail: str) -> JsonResponse:
    return JsonResponse(problem(status, detail), status=status, content_type=PROBLEM)
