"""Deliveries to a real receiver: signature, retries, and what is never reached."""

import json
import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.events.recording import record_event
from annotation.models import Event
from scoring.models import Webhook, WebhookDelivery
from scoring.webhooks.managing import KINDS, add_webhook, delete_webhook, send_again, send_test
from scoring.webhooks.sending import RETRIES_S, send_deliveries
from scoring.webhooks.wake_ups import delete_old_events, hand_out_events, wake_waiting_webhooks
from scoring.workers.presence import sign
from tests.clients.python_client import load_client
from tests.factories import make_member, make_project
from tests.scoring.webhooks.receiver import Receiver, answers

pytestmark = pytest.mark.django_db


@pytest.fixture
def receiver(settings, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    settings.WEBHOOK_ADDRESSES = ["loopback"]
    with Receiver() as server:
        yield server


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def manager(project):
    return make_member(project, "manager")


@pytest.fixture
def added(project, manager, receiver):
    return add_webhook(project, manager, receiver.address, KINDS)


@pytest.fixture
def webhook(added):
    return added[0]


def happen(project, **data):
    record_event(project, Event.Kind.RUN_FINISHED, data)
    hand_out_events(project.pk)


def let_time_pass():
    """Make everything due that waits for its next attempt."""
    now = timezone.now()
    WebhookDelivery.objects.filter(next_attempt_at__isnull=False).update(next_attempt_at=now)
    Webhook.objects.update(not_before=None)


def test_a_receiver_verifies_what_it_gets(project, added, receiver):
    webhook, secret = added
    happen(project, run=7)
    send_deliveries(webhook.pk)
    (request,) = receiver.received
    told = load_client().verify_webhook(secret, request.headers, request.body)
    event = Event.objects.get()
    assert (
        told
        == json.loads(request.body)
        == {
            "id": str(event.uid),
            "kind": "run.finished",
            "project": project.slug,
            "at": event.at.isoformat(),
            "data": {"run": 7},
        }
    )
    delivery = webhook.deliveries.get()
    assert (delivery.state, delivery.attempts, delivery.last_status) == ("delivered", 1, 204)
    send_deliveries(webhook.pk)
    assert len(receiver.received) == 1


def test_a_failed_delivery_is_repeated_under_the_same_id(project, webhook, receiver):
    receiver.status = answers(500, 200)
    happen(project)
    send_deliveries(webhook.pk)
    delivery = webhook.deliveries.get()
    assert (delivery.state, delivery.last_error) == ("waiting", "The receiver answered 500.")
    assert delivery.next_attempt_at > timezone.now()
    send_deliveries(webhook.pk)
    assert len(receiver.received) == 1
    let_time_pass()
    send_deliveries(webhook.pk)
    assert webhook.deliveries.get().state == "delivered"
    first, second = receiver.received
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]


def test_a_delivery_is_given_up_after_its_last_attempt_and_can_be_sent_again(
    project, webhook, manager, receiver
):
    receiver.status = lambda: 404
    happen(project)
    webhook.deliveries.update(attempts=len(RETRIES_S))
    send_deliveries(webhook.pk)
    delivery = webhook.deliveries.get()
    assert (delivery.state, delivery.attempts) == ("failed", len(RETRIES_S) + 1)
    receiver.status = lambda: 200
    send_again(delivery, manager)
    send_deliveries(webhook.pk)
    assert webhook.deliveries.get().state == "delivered"


def test_a_receiver_that_is_away_gets_one_request_and_then_a_rest(project, webhook, receiver):
    receiver.status = lambda: 503
    for number in range(3):
        happen(project, run=number)
    send_deliveries(webhook.pk)
    send_deliveries(webhook.pk)
    assert len(receiver.received) == 1
    receiver.status = lambda: 200
    let_time_pass()
    send_deliveries(webhook.pk)
    assert len(receiver.received) == 4
    assert {each.state for each in webhook.deliveries.all()} == {"delivered"}


def test_an_event_that_the_receiver_refuses_does_not_hold_up_others(project, webhook, receiver):
    receiver.status = answers(400, 200)
    happen(project, run=1)
    happen(project, run=2)
    send_deliveries(webhook.pk)
    assert [each.state for each in webhook.deliveries.order_by("pk")] == ["waiting", "delivered"]


def test_gone_disables_the_webhook(project, webhook, receiver):
    receiver.status = lambda: 410
    happen(project, run=1)
    happen(project, run=2)
    send_deliveries(webhook.pk)
    webhook.refresh_from_db()
    project.refresh_from_db()
    assert (len(receiver.received), webhook.disabled_reason) == (1, "The receiver answered 410 Gone.")
    assert {each.state for each in webhook.deliveries.all()} == {"failed"}
    assert project.wanted_events == []


def test_a_receiver_that_never_answers_is_given_up_in_time(project, webhook, receiver, monkeypatch):
    monkeypatch.setattr("scoring.webhooks.sending.TIMEOUT_S", 0.05)
    end = threading.Event()
    receiver.status = lambda: end.wait(5) and 200
    happen(project)
    send_deliveries(webhook.pk)
    end.set()
    delivery = webhook.deliveries.get()
    assert (delivery.state, delivery.last_status) == ("waiting", None)
    assert Webhook.objects.get().not_before > timezone.now()


def test_a_redirect_is_not_followed(project, webhook, receiver):
    receiver.status = lambda: 307
    happen(project)
    send_deliveries(webhook.pk)
    assert len(receiver.received) == 1
    assert "redirects are not followed" in webhook.deliveries.get().last_error


def test_an_address_that_is_no_longer_allowed_is_not_reached(project, webhook, receiver, settings):
    settings.WEBHOOK_ADDRESSES = []
    happen(project)
    send_deliveries(webhook.pk)
    assert receiver.received == []
    assert "WEBHOOK_ADDRESSES" in webhook.deliveries.get().last_error


def test_a_name_that_leads_to_a_private_address_is_not_reached(
    project, manager, receiver, settings, monkeypatch
):
    settings.WEBHOOK_ADDRESSES = []
    port = receiver.origin.rsplit(":", 1)[1]
    webhook, _ = add_webhook(project, manager, f"http://localhost.localdomain:{port}/hook/", KINDS)
    monkeypatch.setattr("asyncio.base_events.BaseEventLoop.getaddrinfo", resolved_to("127.0.0.1", int(port)))
    happen(project)
    send_deliveries(webhook.pk)
    assert receiver.received == []
    assert "127.0.0.1, which is no public address" in webhook.deliveries.get().last_error


def resolved_to(number, port):
    async def getaddrinfo(*_, **__):
        return [(2, 1, 6, "", (number, port))]

    return getaddrinfo


def test_a_secret_of_another_key_is_reported(project, webhook, receiver, settings):
    settings.ENDPOINT_KEYS_SECRET = "another"
    happen(project)
    send_deliveries(webhook.pk)
    assert receiver.received == []
    assert "cannot be decrypted" in webhook.deliveries.get().last_error


def test_one_worker_sends_at_a_time_and_a_killed_one_is_replaced(project, webhook, receiver):
    happen(project)
    held = Webhook.objects.with_due_deliveries().claim()
    send_deliveries(webhook.pk)
    assert receiver.received == []
    Webhook.objects.filter(pk=held.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
    send_deliveries(webhook.pk)
    assert len(receiver.received) == 1


def test_events_are_handed_out_once_and_only_to_webhooks_of_their_project_that_want_them(
    project, webhook, manager, receiver
):
    other = make_project()
    add_webhook(other, make_member(other, "manager"), receiver.address, KINDS)
    add_webhook(project, manager, f"{receiver.address}raters/", ["rater.suspended"])
    happen(project)
    Event.objects.update(is_handed_out=False)
    hand_out_events(project.pk)
    assert [each.webhook for each in WebhookDelivery.objects.all()] == [webhook]


def test_a_webhook_gets_nothing_from_before_it_was_added(project, manager, receiver):
    record_event(project, Event.Kind.RUN_FINISHED, {})
    add_webhook(project, manager, receiver.address, KINDS)
    hand_out_events(project.pk)
    assert not WebhookDelivery.objects.exists()


def test_the_sweep_finds_what_a_lost_message_left(project, webhook, django_capture_on_commit_callbacks, sent):
    record_event(project, Event.Kind.RUN_FINISHED, {})
    with django_capture_on_commit_callbacks(execute=True):
        wake_waiting_webhooks()
    messages = [each for each in sent("cpu") if each["task"] == "scoring.tasks.send_deliveries"]
    assert messages
    assert {each["args"][0] for each in messages} == {webhook.pk}


@pytest.mark.parametrize(("served", "queue"), [(["cpu"], "cpu"), (["cpu", "llm"], "llm")])
def test_workers_that_wait_for_others_anyway_send_where_there_are_any(
    project, webhook, manager, django_capture_on_commit_callbacks, sent, served, queue
):
    sign("worker", served)
    with django_capture_on_commit_callbacks(execute=True):
        send_test(webhook, manager)
    assert [each["args"] for each in sent(queue)] == [[webhook.pk]]


def test_a_test_goes_to_one_webhook_whatever_it_wants(project, manager, webhook, receiver):
    other, _ = add_webhook(project, manager, f"{receiver.address}other/", KINDS)
    send_test(other, manager)
    hand_out_events(project.pk)
    send_deliveries(webhook.pk)
    send_deliveries(other.pk)
    assert [json.loads(each.body)["kind"] for each in receiver.received] == ["test"]


def test_old_events_are_deleted_with_their_deliveries(project, webhook):
    happen(project, run=1)
    Event.objects.update(at=timezone.now() - timedelta(days=31))
    happen(project, run=2)
    delete_old_events()
    assert [each.event.data for each in WebhookDelivery.objects.all()] == [{"run": 2}]


def test_a_deleted_webhook_gets_nothing_more(project, manager, webhook, receiver):
    happen(project)
    delete_webhook(webhook, manager)
    send_deliveries(webhook.pk)
    project.refresh_from_db()
    assert (receiver.received, project.wanted_events) == ([], [])
