"""Adding, deleting, disabling and testing webhooks, and sending deliveries again."""

from collections.abc import Collection

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError, InvalidFields
from annotation.lookups import one_of
from annotation.models import Event, Project
from annotation.permissions import Permission, require
from scoring.endpoints.encryption import encrypt
from scoring.models import Webhook, WebhookDelivery
from scoring.models.webhooks import WebhookQuerySet
from scoring.webhooks.addresses import refusal_of
from scoring.webhooks.signing import new_secret
from scoring.webhooks.wake_ups import wake

SECRETS = "secrets of webhooks"
"""The purpose for which they are encrypted."""
KINDS = (Event.Kind.RATING_FINISHED, Event.Kind.RATER_SUSPENDED, Event.Kind.RUN_FINISHED)
MOST_WEBHOOKS = 10
"""Webhooks of one project."""
LONGEST_ADDRESS = 300
SHOWN_DELIVERIES = 50


class TakenAddress(DomainError):
    """The project has a webhook with this address already."""

    status = 409


def webhooks_of(project: Project) -> WebhookQuerySet:
    return Webhook.objects.filter(project=project)


def webhooks_with_figures(project: Project) -> WebhookQuerySet:
    """Return the project's webhooks with `last_delivered_at` and numbers of `waiting` and `failed`."""
    waiting = Q(deliveries__next_attempt_at__isnull=False)
    failed = ~waiting & Q(deliveries__isnull=False, deliveries__delivered_at__isnull=True)
    return webhooks_of(project).annotate(
        last_delivered_at=Max("deliveries__delivered_at"),
        waiting=Count("deliveries", filter=waiting),
        failed=Count("deliveries", filter=failed),
    )


def webhook_of(project: Project, webhook_id: int) -> Webhook:
    """Return the project's webhook with this id. Raises NotFound."""
    return one_of(webhooks_of(project), webhook_id, "webhook")


def latest_deliveries(webhook: Webhook) -> QuerySet[WebhookDelivery]:
    """Return the webhook's deliveries, the latest first."""
    return webhook.deliveries.select_related("event").order_by("-pk")


def add_webhook(project: Project, user: User, address: str, kinds: Collection[str]) -> tuple[Webhook, str]:
    """Add a webhook for these kinds of events. Return it with its secret, which is never shown again.

    Raises InvalidFields for an address that may not be used and for kinds that do not exist, TakenAddress,
    DomainError beyond MOST_WEBHOOKS, and as `require`.
    """
    require(user, project, Permission.MANAGE_PROJECT)
    address = address.strip()
    wrong = {}
    if len(address) > LONGEST_ADDRESS:
        wrong["address"] = f"Found {len(address):,} characters. The limit is {LONGEST_ADDRESS}."
    elif refusal := refusal_of(address):
        wrong["address"] = refusal
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        wrong["events"] = f"Found {', '.join(unknown) or 'none'}, expected some of {', '.join(KINDS)}."
    if wrong:
        raise InvalidFields(wrong)
    secret = new_secret()
    with transaction.atomic():
        _lock(project)
        there = webhooks_of(project)
        if there.filter(address=address).exists():
            raise TakenAddress(f"This project has a webhook for {address} already. Delete it first.")
        if there.count() >= MOST_WEBHOOKS:
            raise DomainError(f"This project has {MOST_WEBHOOKS} webhooks, the most there can be.")
        webhook = Webhook.objects.create(
            project=project,
            address=address,
            kinds=[kind.value for kind in KINDS if kind in kinds],
            encrypted_secret=encrypt(secret, SECRETS),
            created_by=user,
        )
        _renew_wanted_events(project)
        record(Action.WEBHOOK_CREATED, project, address, details={"events": webhook.kinds})
    return webhook, secret


def delete_webhook(webhook: Webhook, user: User) -> None:
    """Delete the webhook and its deliveries, also those that wait."""
    require(user, webhook.project, Permission.MANAGE_PROJECT)
    with transaction.atomic():
        _lock(webhook.project)
        record(Action.WEBHOOK_DELETED, webhook.project, webhook.address)
        webhook.delete()
        _renew_wanted_events(webhook.project)


def disable_webhook(webhook: Webhook, reason: str) -> None:
    """Send nothing to the webhook any more. The worker that holds it calls this."""
    with transaction.atomic():
        _lock(webhook.project)
        if webhook.finish(disabled_reason=reason):
            waiting = webhook.deliveries.filter(next_attempt_at__isnull=False)
            waiting.update(next_attempt_at=None, last_error=f"Not sent: {reason}")
            _renew_wanted_events(webhook.project)


def send_test(webhook: Webhook, user: User) -> WebhookDelivery:
    """Have a worker send an event of the kind `test`. Raises DomainError for a disabled webhook."""
    require(user, webhook.project, Permission.MANAGE_PROJECT)
    _refuse_disabled(webhook)
    now = timezone.now()
    with transaction.atomic():
        event = Event.objects.create(
            project=webhook.project, kind=Event.Kind.TEST, at=now, is_handed_out=True
        )
        delivery = WebhookDelivery.objects.create(webhook=webhook, event=event, next_attempt_at=now)
        wake(webhook)
    return delivery


def send_again(delivery: WebhookDelivery, user: User) -> None:
    """Have a worker send the delivery, with all retries anew. Raises DomainError for a disabled webhook."""
    webhook = delivery.webhook
    require(user, webhook.project, Permission.MANAGE_PROJECT)
    _refuse_disabled(webhook)
    with transaction.atomic():
        WebhookDelivery.objects.filter(pk=delivery.pk).update(
            attempts=0, delivered_at=None, next_attempt_at=timezone.now()
        )
        wake(webhook)


def _refuse_disabled(webhook: Webhook) -> None:
    if not webhook.is_unfinished:
        raise DomainError("This webhook is disabled. Delete it and add it again.")


def _lock(project: Project) -> None:
    """Let one change of the project's webhooks wait for another."""
    Project.objects.select_for_update(of=("self",)).get(pk=project.pk)


def _renew_wanted_events(project: Project) -> None:
    """Store which events are wanted, so that nobody else has to look for webhooks."""
    wanted = webhooks_of(project).unfinished().values_list("kinds", flat=True)
    kinds = sorted({kind for each in wanted for kind in each})
    Project.objects.filter(pk=project.pk).update(wanted_events=kinds)
