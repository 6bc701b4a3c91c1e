"""The API's audit log, for managers."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.audit.actions import Action
from annotation.audit.entries import actors_of, find_entries
from annotation.models import AuditEntry
from annotation.permissions import Permission, project_for
from annotation.web.api_pages import (
    REFUSALS,
    KeyedPageQuery,
    OneOf,
    Page,
    keyed_page_of,
    one_of,
    read_only,
    read_query,
)


class AuditEntrySerializer(serializers.ModelSerializer):
    actor = serializers.CharField(source="actor_name", help_text="A username; empty for a command.")

    class Meta:
        model = AuditEntry
        fields = ("id", "at", "actor", "action", "object", "reason", "details")
        read_only_fields = fields


class AuditEntryListSerializer(Page):
    results = AuditEntrySerializer(many=True)


class AuditQuery(KeyedPageQuery):
    action = OneOf(Action.values, required=False)
    actor = serializers.CharField(required=False, help_text="A username, or `command`.")
    since = serializers.DateField(required=False, help_text="The first day.")
    until = serializers.DateField(required=False, help_text="The last day.")


@extend_schema(
    operation_id="audit_log_list",
    parameters=[AuditQuery],
    responses={200: AuditEntryListSerializer, **REFUSALS},
)
@read_only
def audit_log(request: Request, slug: str) -> Response:
    """List who did what in the project, the latest first. Only its managers may read this."""
    project = project_for(request.user, slug, Permission.MANAGE_PEOPLE)
    query = read_query(request, AuditQuery)
    filters = {name: query[name] for name in ("action", "actor", "since", "until") if name in query}
    if "actor" in filters:
        one_of("actor", filters["actor"], actors_of(project))
    page = keyed_page_of(request, find_entries(project, **filters), query, ["id"], is_descending=True)
    return Response(AuditEntryListSerializer(page).data)
