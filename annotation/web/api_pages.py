"""Requests to the API and its lists: checked parameters, bounded pages, one shape of refusal."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from annotation.errors import DomainError

PAGE_ROWS = 200
LARGEST_PAGE_ROWS = 1000
LARGEST_OFFSET = 2**31 - 1  # what every database counts to

read_only: Callable[[Callable[..., Any]], Any] = api_view(["GET", "HEAD"])


def open_read_only(view: Callable[..., Any]) -> Any:
    """Make a read-only API view that checks by itself whether one has to be signed in."""
    return read_only(permission_classes([AllowAny])(view))


class OneOf(serializers.ChoiceField):
    """A parameter with a fixed list of values, which the refusal of any other names."""

    def __init__(self, choices: Sequence[str], **options: Any) -> None:
        expected = f"expected one of {', '.join(choices)}"
        options["error_messages"] = {"invalid_choice": f"found '{{input}}', {expected}"}
        super().__init__(choices=list(choices), **options)


class PageQuery(serializers.Serializer):
    limit = serializers.IntegerField(
        default=PAGE_ROWS, min_value=1, max_value=LARGEST_PAGE_ROWS, help_text="Rows per page."
    )
    offset = serializers.IntegerField(
        default=0, min_value=0, max_value=LARGEST_OFFSET, help_text="Rows to skip."
    )


class Page(serializers.Serializer):
    """A page of a list. `next` and `previous` are the addresses of the adjacent pages."""

    count = serializers.IntegerField(help_text="Rows in the whole list.")
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)


class ProjectPage(Page):
    revision = serializers.IntegerField(
        help_text="The project's revision, which grows with each change of its data."
    )


class Refusal(serializers.Serializer):
    detail = serializers.CharField(help_text="The error message.")


REFUSALS = {400: Refusal, 401: Refusal, 403: Refusal, 404: Refusal}


def read_query(request: Request, kind: type[serializers.Serializer]) -> dict[str, Any]:
    """Return the request's parameters as `kind` declares them.

    Raises DomainError for invalid values, and for unknown and repeated parameters, which would otherwise be
    ignored unnoticed.
    """
    given = request.query_params
    fields = kind().fields
    there_is = ", ".join(fields)
    repeated = [name for name, field in fields.items() if isinstance(field, serializers.ListField)]
    wrong = [
        f"unknown parameter '{name}'; expected one of {there_is}" for name in given if name not in fields
    ]
    wrong += [
        f"{name}: given twice" for name in given if len(given.getlist(name)) > 1 and name not in repeated
    ]
    query = kind(data={name: given.getlist(name) if name in repeated else given[name] for name in given})
    if not query.is_valid():
        wrong += [f"{name}: {_told(errors)}" for name, errors in query.errors.items()]
    if wrong:
        raise DomainError("; ".join(sorted(wrong)))
    return query.validated_data


def _told(errors: Mapping[Any, Any] | Sequence[str]) -> str:
    """Return a field's errors in one line."""
    each = map(_told, errors.values()) if isinstance(errors, Mapping) else errors
    return " ".join(each)


def one_of(name: str, value: str, allowed: Sequence[str]) -> str:
    """Return `value` if it is allowed. Raises DomainError naming the allowed values."""
    if value not in allowed:
        raise DomainError(f"{name}: found '{value}', expected one of {', '.join(allowed) or '(none yet)'}")
    return value


def page_of(request: Request, rows: QuerySet | Sequence, query: dict[str, Any]) -> dict[str, Any]:
    """Return the part of `rows` that `query` asks for, as the fields of a `Page` with `results`."""
    count = rows.count() if isinstance(rows, QuerySet) else len(rows)
    limit, offset = query["limit"], query["offset"]
    here = request.build_absolute_uri()

    def beside(start: int) -> str:
        return replace_query_param(replace_query_param(here, "limit", limit), "offset", start)

    return {
        "count": count,
        "next": beside(offset + limit) if offset + limit < count else None,
        "previous": beside(max(0, offset - limit)) if offset > 0 else None,
        "results": list(rows[offset : offset + limit]),
    }
