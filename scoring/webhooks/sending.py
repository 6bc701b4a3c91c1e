"""Sending deliveries to webhooks: one attempt, and what follows from it."""

import asyncio
import json
import logging
import time
from dataclasses import dataclass
from datetime import timedelta

from cryptography.fernet import InvalidToken
from django.utils import timezone

from annotation.models import Event
from scoring.contract.evaluator import EvaluatorError
from scoring.endpoints.encryption import decrypt
from scoring.models import Webhook, WebhookDelivery
from scoring.webhooks.addresses import SETTING, reach_of
from scoring.webhooks.managing import SECRETS, disable_webhook
from scoring.webhooks.signing import signed_headers
from scoring.webhooks.wake_ups import wake

TIMEOUT_S = 10.0
"""Seconds for one attempt, from the name's resolution to the answer's headers."""
CONNECT_S = 4.0
"""Seconds to connect to an address of the host before the next is tried."""
SLICE_S = 15.0
"""Seconds after which a worker leaves the rest to the next message."""
RETRIES_S = (10, 60, 5 * 60, 30 * 60, 2 * 3600, 6 * 3600, 12 * 3600, 24 * 3600)
"""Seconds from a failed attempt to the next. After the last one the delivery is given up."""
RESTS_S = (10, 60, 5 * 60)
"""Seconds for which a webhook that does not answer gets nothing at all: the first time, the second, later."""
GONE = 410
BUSY = 429
LONGEST_ERROR = 300

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Attempt:
    status: int | None
    """HTTP status; None without an answer."""
    error: str
    """The reason for people; empty if it was delivered."""

    @property
    def is_away(self) -> bool:
        """Return whether the receiver takes nothing at the moment, whatever the event."""
        return self.status is None or self.status == BUSY or self.status >= 500


def send_deliveries(webhook_id: int) -> None:
    """Send what is due to the webhook, in order, unless another worker does so.

    The webhook is leased meanwhile and no transaction is open. It ends with the time slice, when nothing is
    due, and when the receiver does not answer; then it gets nothing for a while, so that it holds no worker.
    """
    webhook = Webhook.objects.filter(pk=webhook_id).with_due_deliveries().claim()
    if webhook is None:
        return
    ends = time.monotonic() + SLICE_S
    while (delivery := _next_due(webhook)) is not None:
        if time.monotonic() > ends:
            webhook.release(attempts=0)
            wake(webhook)
            return
        made = attempted(webhook, delivery.event)
        _store(delivery, made)
        if made.status == GONE:
            disable_webhook(webhook, "The receiver answered 410 Gone.")
            return
        if made.is_away:
            webhook.release(RESTS_S[min(webhook.attempts, len(RESTS_S)) - 1])
            return
    webhook.release(attempts=0)


def _next_due(webhook: Webhook) -> WebhookDelivery | None:
    due = webhook.deliveries.filter(next_attempt_at__lte=timezone.now())
    return due.select_related("event__project").order_by("next_attempt_at", "pk").first()


def attempted(webhook: Webhook, event: Event) -> Attempt:
    """Send the event once, signed, and return what came of it. The answer's body is not read."""
    try:
        secret = decrypt(webhook.encrypted_secret, SECRETS)
    except InvalidToken:
        return Attempt(None, "The secret cannot be decrypted. Delete this webhook and add it again.")
    body = content_of(event)
    headers = signed_headers(secret, str(event.uid), int(time.time()), body)
    try:
        status = asyncio.run(_posted(webhook.address, body, headers))
    except TimeoutError:
        return Attempt(None, f"No answer within {TIMEOUT_S:.0f} seconds.")
    except EvaluatorError as refusal:
        return Attempt(None, str(refusal))
    except Exception as error:  # the transport's errors, of several libraries
        logger.info("Webhook %s could not be reached.", webhook.pk, exc_info=True)
        return Attempt(None, f"Not reached: {str(error) or type(error).__name__}")
    return Attempt(status, "" if 200 <= status < 300 else f"The receiver answered {status}.")


def content_of(event: Event) -> bytes:
    """Return the JSON that receivers get, the same in each attempt."""
    content = {
        "id": str(event.uid),
        "kind": event.kind,
        "project": event.project.slug,
        "at": event.at.isoformat(),
        "data": event.data,
    }
    return json.dumps(content, ensure_ascii=False).encode()


async def _posted(address: str, body: bytes, headers: dict[str, str]) -> int:
    import httpx2  # it takes long, and most workers send nothing

    from scoring.llm.transport import EndpointTransport

    transport = EndpointTransport(address, reach_of(address), most_bytes=0, listed_in=SETTING)
    timeout = httpx2.Timeout(TIMEOUT_S, connect=CONNECT_S)
    sent = {**headers, "Content-Type": "application/json", "User-Agent": "Touchstone"}
    async with (
        asyncio.timeout(TIMEOUT_S),
        httpx2.AsyncClient(
            transport=transport, follow_redirects=False, trust_env=False, timeout=timeout
        ) as client,
        client.stream("POST", address, content=body, headers=sent) as answer,
    ):
        return int(answer.status_code)


def _store(delivery: WebhookDelivery, made: Attempt) -> None:
    now = timezone.now()
    attempts = delivery.attempts + 1
    again = None
    if made.error and attempts <= len(RETRIES_S):
        again = now + timedelta(seconds=RETRIES_S[attempts - 1])
    WebhookDelivery.objects.filter(pk=delivery.pk).update(
        attempts=attempts,
        last_attempt_at=now,
        last_status=made.status,
        last_error=made.error[:LONGEST_ERROR],
        delivered_at=None if made.error else now,
        next_attempt_at=again,
    )
