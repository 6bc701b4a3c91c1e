"""Managing webhooks on the pages and by the API. Permissions are tested in tests/test_access_matrix.py."""

from html import unescape

import pytest
from django.urls import reverse

from annotation.errors import NotAllowed
from annotation.models import AuditEntry, Event
from scoring.endpoints.encryption import decrypt
from scoring.models import Webhook
from scoring.webhooks.managing import MOST_WEBHOOKS, SECRETS, add_webhook, disable_webhook, send_test
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db

ADDRESS = "https://lab.example.org/touchstone/"


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def user(project):
    return make_member(project, "manager")


@pytest.fixture
def manager(client, user):
    client.force_login(user)
    return client


def at(name, project, *ids):
    return reverse(name, args=[project.slug, *ids])


def text_of(response):
    return " ".join(unescape(response.content.decode()).split())


def test_a_secret_is_shown_once_and_stored_encrypted(manager, project):
    sent = {"address": f" {ADDRESS} ", "events": ["run.finished", "rating.finished"]}
    response = manager.post(at("webhooks", project), sent)
    webhook = Webhook.objects.get()
    secret = decrypt(webhook.encrypted_secret, SECRETS)
    assert secret.startswith("whsec_")
    assert secret not in webhook.encrypted_secret
    assert secret in text_of(response)
    assert (webhook.address, webhook.kinds) == (ADDRESS, ["rating.finished", "run.finished"])
    for page in (at("webhooks", project), at("webhook", project, webhook.pk), at("api_webhooks", project)):
        shown = text_of(manager.get(page))
        assert ADDRESS in shown
        assert secret not in shown
        assert webhook.encrypted_secret not in shown
    project.refresh_from_db()
    assert project.wanted_events == ["rating.finished", "run.finished"]
    entry = AuditEntry.objects.get(action="webhook_created")
    assert (entry.object, entry.details) == (ADDRESS, {"events": webhook.kinds})


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("ftp://lab.example.org/", "an http or https address"),
        ("https://me:pw@lab.example.org/", "without user and password"),
        ("http://127.0.0.1:8000/", "expected a public address"),
        ("http://localhost/", "expected a public address"),
        ("http://169.254.169.254/latest/", "expected a public address"),
        ("http://[::ffff:10.0.0.7]/", "expected a public address"),
        ("http://2130706433/", "expected a public address"),
    ],
)
def test_addresses_that_are_not_public_are_refused(manager, project, settings, address, why):
    settings.WEBHOOK_ADDRESSES = []
    sent = {"address": address, "events": ["run.finished"]}
    response = manager.post(at("webhooks", project), sent)
    assert response.status_code == 422
    assert why in text_of(response)
    by_api = manager.post(at("api_webhooks", project), sent, content_type="application/json")
    assert by_api.status_code == 400
    assert why in by_api.json()["detail"]
    assert not Webhook.objects.exists()


def test_the_operator_may_list_a_private_address(manager, project, settings):
    settings.WEBHOOK_ADDRESSES = ["http://10.0.0.7:9000/hook"]
    sent = {"address": "http://10.0.0.7:9000/hook/", "events": ["run.finished"]}
    assert manager.post(at("webhooks", project), sent).status_code == 200


def test_events_that_do_not_exist_and_addresses_that_are_taken_are_refused(manager, project):
    def add(**sent):
        response = manager.post(at("api_webhooks", project), sent, content_type="application/json")
        return response.status_code, response.json().get("detail", "")

    status, detail = add(address=ADDRESS, events=["run.started"])
    assert status == 400
    assert "rating.finished, rater.suspended, run.finished" in detail
    assert add(address=ADDRESS, events=[])[0] == 400
    assert add(address=ADDRESS, events=["run.finished"])[0] == 201
    status, detail = add(address=ADDRESS, events=["rating.finished"])
    assert (status, "Delete it first" in detail) == (409, True)


def test_there_is_a_most(manager, project, user):
    for number in range(MOST_WEBHOOKS):
        add_webhook(project, user, f"{ADDRESS}{number}", ["run.finished"])
    response = manager.post(at("webhooks", project), {"address": ADDRESS, "events": ["run.finished"]})
    assert response.status_code == 422
    assert "10 webhooks" in text_of(response)


def test_researchers_add_none_whatever_the_way(project):
    with pytest.raises(NotAllowed):
        add_webhook(project, make_member(project, "researcher"), ADDRESS, ["run.finished"])


def test_a_webhook_is_tried_and_its_delivery_is_listed_and_sent_again(manager, project, user, sent):
    webhook, _ = add_webhook(project, user, ADDRESS, ["run.finished"])
    page = at("webhook", project, webhook.pk)
    assert "No deliveries yet" in text_of(manager.get(page))
    manager.post(at("webhook_test", project, webhook.pk))
    delivery = webhook.deliveries.get()
    webhook.deliveries.update(next_attempt_at=None, attempts=9, last_status=500, last_error="It said 500.")
    shown = text_of(manager.get(page))
    assert "Test" in shown
    assert "failed" in shown
    assert "It said 500." in shown
    assert "1 failed" in text_of(manager.get(at("webhooks", project)))
    manager.post(at("webhook_send_again", project, webhook.pk, delivery.pk))
    (row,) = manager.get(at("api_webhook_deliveries", project, webhook.pk)).json()["results"]
    assert (row["state"], row["kind"], row["attempts"]) == ("waiting", "test", 0)
    assert row["event"] == str(Event.objects.get().uid)


def test_a_disabled_webhook_says_why_and_sends_no_test(manager, project, user):
    webhook, _ = add_webhook(project, user, ADDRESS, ["run.finished"])
    send_test(webhook, user)
    disable_webhook(Webhook.objects.claim(), "The receiver answered 410 Gone.")
    shown = text_of(manager.get(at("webhook", project, webhook.pk)))
    assert "410 Gone" in shown
    assert "Send a test" not in shown
    assert manager.post(at("webhook_test", project, webhook.pk)).status_code == 400
    assert manager.get(at("api_webhooks", project)).json()["results"][0]["disabled_at"]


def test_a_deleted_webhook_is_gone_with_its_deliveries(manager, project, user):
    webhook, _ = add_webhook(project, user, ADDRESS, ["run.finished"])
    send_test(webhook, user)
    page = at("webhook_delete", project, webhook.pk)
    assert ADDRESS in text_of(manager.get(page))
    assert Webhook.objects.exists()
    manager.post(page)
    assert not Webhook.objects.exists()
    project.refresh_from_db()
    assert project.wanted_events == []
    assert AuditEntry.objects.get(action="webhook_deleted").object == ADDRESS
