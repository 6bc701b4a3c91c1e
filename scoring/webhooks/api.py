"""The API's webhooks, for managers: adding, listing and deleting them, and what was delivered."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.permissions import Permission, project_for
from annotation.web.api_pages import (
    REFUSALS,
    KeyedPageQuery,
    OneOf,
    Page,
    PageQuery,
    Refusal,
    for_members,
    keyed_page_of,
    page_of,
    read_body,
    read_only,
    read_query,
    sent_example,
)
from annotation.web.request_types import SignedInApiRequest
from scoring.models import Webhook, WebhookDelivery
from scoring.webhooks.managing import (
    KINDS,
    add_webhook,
    delete_webhook,
    latest_deliveries,
    webhook_of,
    webhooks_of,
)


class WebhookSerializer(serializers.ModelSerializer):
    events = serializers.ListField(child=serializers.CharField(), source="kinds")
    disabled_at = serializers.DateTimeField(source="finished_at", allow_null=True)

    class Meta:
        model = Webhook
        fields: tuple[str, ...] = ("id", "address", "events", "created_at", "disabled_at", "disabled_reason")
        read_only_fields = fields


class WebhookListSerializer(Page):
    results = WebhookSerializer(many=True)


class NewWebhookSerializer(serializers.Serializer):
    address = serializers.CharField(help_text="An http or https address that gets the events.")
    events = serializers.ListField(child=OneOf(KINDS), help_text="Kinds of events to send.")


class AddedWebhookSerializer(WebhookSerializer):
    secret = serializers.CharField(help_text="The secret that signs deliveries. Shown only now.")

    class Meta(WebhookSerializer.Meta):
        fields = (*WebhookSerializer.Meta.fields, "secret")
        read_only_fields = fields


class WebhookDeliverySerializer(serializers.ModelSerializer):
    event = serializers.UUIDField(source="event.uid", help_text="The `id` that the receiver gets.")
    kind = serializers.CharField(source="event.kind")
    at = serializers.DateTimeField(source="event.at", help_text="Time of the event.")
    state = serializers.ChoiceField(WebhookDelivery.State.choices)

    class Meta:
        model = WebhookDelivery
        fields = (
            "id",
            "event",
            "kind",
            "at",
            "state",
            "attempts",
            "last_attempt_at",
            "next_attempt_at",
            "delivered_at",
            "last_status",
            "last_error",
        )
        read_only_fields = fields


class WebhookDeliveryListSerializer(Page):
    results = WebhookDeliverySerializer(many=True)


@extend_schema(
    methods=["GET"],
    operation_id="webhooks_list",
    parameters=[PageQuery],
    responses={200: WebhookListSerializer, **REFUSALS},
)
@extend_schema(
    methods=["POST"],
    operation_id="webhooks_create",
    request=NewWebhookSerializer,
    responses={201: AddedWebhookSerializer, **REFUSALS, 409: Refusal},
    examples=sent_example(address="https://lab.example.org/hook", events=["rating.finished", "run.finished"]),
)
@for_members("GET", "HEAD", "POST")
def webhook_list(request: SignedInApiRequest, slug: str) -> Response:
    """List the project's webhooks. POST adds one and returns its secret."""
    project = project_for(request.user, slug, Permission.MANAGE_PROJECT)
    if request.method == "POST":
        body = read_body(request, NewWebhookSerializer)
        webhook, secret = add_webhook(project, request.user, body["address"], body["events"])
        added = {**WebhookSerializer(webhook).data, "secret": secret}
        return Response(added, status=201)
    page = page_of(request, webhooks_of(project).order_by("pk"), read_query(request, PageQuery))
    return Response(WebhookListSerializer(page).data)


@extend_schema(operation_id="webhooks_destroy", request=None, responses={204: None, **REFUSALS})
@for_members("DELETE")
def webhook_detail(request: SignedInApiRequest, slug: str, webhook_id: int) -> Response:
    """Delete a webhook with its deliveries, also those that wait."""
    project = project_for(request.user, slug, Permission.MANAGE_PROJECT)
    delete_webhook(webhook_of(project, webhook_id), request.user)
    return Response(status=204)


@extend_schema(
    operation_id="webhook_deliveries_list",
    parameters=[KeyedPageQuery],
    responses={200: WebhookDeliveryListSerializer, **REFUSALS},
)
@read_only
def delivery_list(request: Request, slug: str, webhook_id: int) -> Response:
    """List what became of each event for one webhook in the last 30 days, the latest first."""
    project = project_for(request.user, slug, Permission.MANAGE_PROJECT)
    deliveries = latest_deliveries(webhook_of(project, webhook_id))
    page = keyed_page_of(request, deliveries, read_query(request, KeyedPageQuery), ["id"], is_descending=True)
    return Response(WebhookDeliveryListSerializer(page).data)
