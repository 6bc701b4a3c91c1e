"""Handing events out to webhooks, and waking the workers that send them."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotation.database.wake_ups import send_task
from annotation.models import Event
from scoring.models import Webhook, WebhookDelivery
from scoring.workers.presence import is_served

HANDED_OUT_AT_ONCE = 500
KEPT_DAYS = 30
DELETED_AT_ONCE = 1000
WAKE_UP_S = 10.0
"""Seconds after which a message may be dropped. The sweep sends the next one by then."""


def hand_out_events(project_id: int) -> None:
    """Give each webhook of the project a delivery of each new event that it wants, and wake workers.

    Workers may do this at the same time: an event has one delivery for each webhook.
    """
    _hand_out(project_id)
    for webhook in Webhook.objects.claimable().filter(project=project_id).with_due_deliveries():
        wake(webhook)


def _hand_out(project_id: int) -> None:
    now = timezone.now()
    with transaction.atomic():
        webhooks = list(Webhook.objects.unfinished().filter(project=project_id))
        new = Event.objects.filter(project=project_id, is_handed_out=False).order_by("pk")
        events = list(new[:HANDED_OUT_AT_ONCE])
        WebhookDelivery.objects.bulk_create(
            (
                WebhookDelivery(webhook=webhook, event=event, next_attempt_at=now)
                for event in events
                for webhook in webhooks
                if event.kind in webhook.kinds and event.at >= webhook.created_at
            ),
            ignore_conflicts=True,
        )
        Event.objects.filter(pk__in=[event.pk for event in events]).update(is_handed_out=True)


def wake(webhook: Webhook) -> None:
    """Wake a worker that sends the webhook's deliveries once the transaction is committed.

    Receivers may be slow, so this is for the workers that wait for hosted models, if there are any.
    """
    send_task("send_deliveries", webhook.pk, "llm" if is_served("llm") else "cpu", WAKE_UP_S)


def wake_waiting_webhooks() -> None:
    """Hand out events whose message was lost, and wake workers for what is due; called by the sweep."""
    waiting = Event.objects.filter(is_handed_out=False).order_by("project")
    for project_id in waiting.values_list("project", flat=True).distinct():
        _hand_out(project_id)
    for webhook in Webhook.objects.claimable().with_due_deliveries():
        wake(webhook)


def delete_old_events() -> None:
    """Delete events of more than KEPT_DAYS days ago with their deliveries, some at a time."""
    old = Event.objects.filter(at__lt=timezone.now() - timedelta(days=KEPT_DAYS)).order_by("at")
    Event.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:DELETED_AT_ONCE])).delete()
