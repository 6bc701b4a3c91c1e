"""Requests to the API and its lists: checked parameters, bounded pages, one shape of refusal."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from django.core import signing
from django.db.models import F, QuerySet
from django.db.models.fields.tuple_lookups import Tuple, TupleGreaterThan, TupleLessThan
from drf_spectacular.utils import OpenApiExample
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import SAFE_METHODS, BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.utils.urls import remove_query_param, replace_query_param
from rest_framework.views import APIView

from annotation.errors import DomainError
from annotation.models import ApiToken
from annotation.web.problems import PROBLEM

PAGE_ROWS = 200
LARGEST_PAGE_ROWS = 1000
LARGEST_OFFSET = 2**31 - 1  # what every database counts to
LARGEST_KEYED_OFFSET = 10_000  # a database reads and drops every row before it


class FittingToken(BasePermission):
    """Refuses tokens that rate, and for changes those that only read. Sessions have no scope."""

    def has_permission(self, request: Request, view: APIView) -> bool:  # noqa: ARG002
        scopes = {ApiToken.Scope.MANAGE}
        self.message = "This token changes nothing. Create one that manages on your account page."
        if request.method in SAFE_METHODS:
            scopes.add(ApiToken.Scope.READ)
            self.message = "This token rates and reads nothing else. Use one that reads."
        return not isinstance(request.auth, ApiToken) or request.auth.scope in scopes


class RatingToken(BasePermission):
    """Refuses tokens that do not rate. Sessions have no scope."""

    message = "This token does not rate. Create one that does on your account page."

    def has_permission(self, request: Request, view: APIView) -> bool:  # noqa: ARG002
        return not isinstance(request.auth, ApiToken) or request.auth.scope == ApiToken.Scope.RATE


def for_members(*methods: str) -> Callable[[Callable[..., Any]], Any]:
    """Make an API view for whoever is signed in, by a session or a token whose scope fits the method."""
    return lambda view: api_view(methods)(permission_classes([IsAuthenticated, FittingToken])(view))


read_only: Callable[[Callable[..., Any]], Any] = for_members("GET", "HEAD")


def open_read_only(view: Callable[..., Any]) -> Any:
    """Make a read-only API view that checks by itself whether one has to be signed in."""
    return api_view(["GET", "HEAD"])(permission_classes([FittingToken])(view))


def rates(*methods: str) -> Callable[[Callable[..., Any]], Any]:
    """Make an API view for raters, by a session or a token that rates."""
    return lambda view: api_view(methods)(permission_classes([IsAuthenticated, RatingToken])(view))


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


class KeyedPageQuery(PageQuery):
    """A page of a list that may be long: `next` leads on by the key of the last row."""

    offset = serializers.IntegerField(
        default=0,
        min_value=0,
        max_value=LARGEST_KEYED_OFFSET,
        error_messages={
            "max_value": f"found more than {LARGEST_KEYED_OFFSET:,}. For later rows, follow `next`, which "
            "has a `cursor`."
        },
        help_text=f"Rows to skip, at most {LARGEST_KEYED_OFFSET:,}. For later rows, follow `next`.",
    )
    cursor = serializers.CharField(
        required=False, help_text="Place in the list, as in `next` and `previous`. Not with `offset`."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "cursor" in attrs and attrs["offset"]:
            raise serializers.ValidationError({"cursor": "given with `offset`; expected one of them"})
        return attrs


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
    """Problem details of RFC 9457."""

    type = serializers.CharField(help_text="about:blank: there is no more to tell than the status.")
    title = serializers.CharField(help_text="The status in words.")
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="The error message.")
    questions = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        help_text="Key of a question to what is wrong with its answer.",
    )


def refusals(*statuses: int) -> dict[tuple[int, str], type[Refusal]]:
    """Return what an operation's schema says of its refusals with these statuses."""
    return {(status, PROBLEM): Refusal for status in statuses}


REFUSALS = refusals(400, 401, 403, 404)


def sent_example(**body: Any) -> list[OpenApiExample]:
    """Return what an operation's schema shows as a body that is sent."""
    return [OpenApiExample("Request", value=body, request_only=True)]


def read_body(request: Request, kind: type[serializers.Serializer]) -> dict[str, Any]:
    """Return the request's JSON as `kind` declares it. Raises DomainError for anything else in it."""
    body = request.data
    if not isinstance(body, dict):
        raise DomainError("expected a JSON object")
    fields = kind().fields
    wrong = [
        f"unknown field '{name}'; expected one of {', '.join(fields)}" for name in body if name not in fields
    ]
    read = kind(data=body)
    if not read.is_valid():
        wrong += [f"{name}: {_told(errors)}" for name, errors in read.errors.items()]
    if wrong:
        raise DomainError("; ".join(sorted(wrong)))
    return read.validated_data


def refuse_fields(errors: Mapping[str, Any]) -> None:
    """Raise DomainError with the messages of each field, if there are any."""
    wrong = [f"{name}: {_told(messages)}" for name, messages in errors.items()]
    if wrong:
        raise DomainError("; ".join(sorted(wrong)))


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


class Cursor(NamedTuple):
    """A place in a list: a row, the direction from it, and the list's length at a revision, if known."""

    row: list[Any]
    backwards: bool
    total: int
    revision: int | None


def keyed_page_of(
    request: Request,
    rows: QuerySet,
    query: dict[str, Any],
    key: Sequence[str],
    *,
    is_descending: bool = False,
    revision: int | None = None,
) -> dict[str, Any]:
    """Return the part of `rows`, by `key`, that a `KeyedPageQuery` asks for, with the fields of `page_of`.

    The fields of `key` are unique together and best an index. From a cursor on, a page takes as long at any
    depth. The rows are counted once for all pages of the same `revision`.
    """
    limit, offset = query["limit"], query["offset"]
    cursor = _read_cursor(request, query["cursor"]) if "cursor" in query else None
    is_counted = cursor is not None and revision is not None and cursor.revision == revision
    count = cursor.total if cursor is not None and is_counted else rows.count()
    backwards = cursor is not None and cursor.backwards
    is_reversed = is_descending != backwards
    ordered = rows.order_by(*(f"-{name}" if is_reversed else name for name in key))
    if cursor is not None:
        beyond = TupleLessThan if is_reversed else TupleGreaterThan
        ordered = ordered.filter(beyond(Tuple(*map(F, key)), tuple(cursor.row)))
        offset = 0
    found = list(ordered[offset : offset + limit + 1])
    has_more, found = len(found) > limit, found[:limit]
    if backwards:
        found.reverse()

    def beside(row: Any, to_previous: bool) -> str:
        place = Cursor([getattr(row, name) for name in key], to_previous, count, revision)
        here = remove_query_param(request.build_absolute_uri(), "offset")
        signed = signing.dumps(place, salt=_list_of(request))
        return replace_query_param(replace_query_param(here, "limit", limit), "cursor", signed)

    has_next = bool(found) and (has_more or backwards)
    has_previous = bool(found) and (has_more if backwards else offset > 0 or cursor is not None)
    return {
        "count": count,
        "next": beside(found[-1], to_previous=False) if has_next else None,
        "previous": beside(found[0], to_previous=True) if has_previous else None,
        "results": found,
    }


def _list_of(request: Request) -> str:
    """Return what tells the list from others: its path and filters."""
    filters = ((name, values) for name, values in request.query_params.lists() if name not in _PLACES)
    return f"cursor of {request.path} {sorted(filters)}"


_PLACES = ("limit", "offset", "cursor")


def _read_cursor(request: Request, signed: str) -> Cursor:
    try:
        return Cursor(*signing.loads(signed, salt=_list_of(request)))
    except signing.BadSignature as error:
        raise DomainError(
            "cursor: expected one from `next` or `previous` of a page of this list with the same filters"
        ) from error
