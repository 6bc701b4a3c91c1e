"""Fields and parameters that the API's results share."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Project
from annotation.people.client_address import client_network
from annotation.permissions import Permission, project_for
from annotation.web.api_pages import (
    REFUSALS,
    OneOf,
    PageQuery,
    ProjectPage,
    open_read_only,
    page_of,
    read_query,
    refusals,
)
from metaeval.live import strangers
from metaeval.live.background import Key
from metaeval.snapshot.arrays import ALL
from metaeval.snapshot.label_rules import LABEL_RULES

MOST_RESAMPLES = 10_000
"""The client waits for the result. `strangers.MOST_RESAMPLES` are fewer."""


RESAMPLES_HELP = f"Readers of published results who are not members: at most {strangers.MOST_RESAMPLES:,}."

Rows = Callable[[Project, dict[str, Any]], tuple[dict[str, Any], Sequence[Any]]]
"""A function of a project and the checked parameters that returns a list's fields and all its rows."""


def results_list(
    operation_id: str, query_kind: type[PageQuery], list_kind: type[ProjectPage]
) -> Callable[[Rows], Any]:
    """Make an API view that lists results, for anybody once they are published, from a function."""

    def listed(rows_of: Rows) -> Any:
        @extend_schema(
            operation_id=operation_id,
            parameters=[query_kind],
            responses={200: list_kind, **REFUSALS, **refusals(429, 503)},
        )
        @open_read_only
        @wraps(rows_of)
        def view(request: Request, slug: str) -> Response:
            project = project_for(request.user, slug, Permission.SEE_RESULTS)
            query = read_query(request, query_kind)
            if project.only_published:
                fields, rows = _rows_for_stranger(request, project, operation_id, query, rows_of)
            else:
                fields, rows = rows_of(project, query)
            return Response(list_kind({**fields, **page_of(request, rows, query)}).data)

        return view

    return listed


def _rows_for_stranger(
    request: Request, project: Project, operation_id: str, query: dict[str, Any], rows_of: Rows
) -> tuple[dict[str, Any], Sequence[Any]]:
    """Return the rows within the limits for strangers, kept for all pages of the list."""
    question = sorted((name, str(value)) for name, value in query.items() if name not in PageQuery().fields)
    key = Key.of(project, project.revision, operation_id, *question)
    return strangers.ANSWERS.answer(
        key, client_network(request), lambda: strangers.Computed(rows_of(project, query))
    )


class FigureSerializer(serializers.Serializer):
    """A value with its interval and definition. An undefined value is null and has a reason."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, help_text="Lower end of the interval.")
    high = serializers.FloatField(allow_null=True, help_text="Upper end of the interval.")
    left_out = serializers.DictField(child=serializers.IntegerField(), help_text="Reason -> number left out.")
    definition = serializers.CharField()
    warning = serializers.CharField(
        required=False, help_text="The groups of raters that are mixed although they differ."
    )
    reason = serializers.CharField(required=False, help_text="The reason why there is no value.")
    interval_reason = serializers.CharField(required=False, help_text="The reason why there is no interval.")


class EvaluatorFigureSerializer(FigureSerializer):
    evaluator = serializers.CharField()
    fingerprint = serializers.CharField(allow_null=True)
    dimension = serializers.CharField()


class LabelsQuery(PageQuery):
    language = serializers.CharField(default=ALL, help_text=f"One language, or '{ALL}' for all together.")
    group = serializers.CharField(
        required=False, help_text=f"Labels by one group of raters, or '{ALL}' for all together."
    )
    labels = OneOf(
        list(LABEL_RULES), default="mean", help_text="Rule that turns several raters' answers into one label."
    )
