"""The Python client's check of webhooks' signatures."""

import json
import time

import pytest

from scoring.webhooks.signing import new_secret, signed_headers
from tests.clients.python_client import load_client

client = load_client()
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = json.dumps({"id": "1", "kind": "test"}).encode()


def headers(secret=SECRET, body=BODY, age_s=0):
    return signed_headers(secret, "1", int(time.time()) - age_s, body)


def test_a_signed_request_is_read():
    upper = {name.upper(): value for name, value in headers().items()}
    assert client.verify_webhook(SECRET, upper, BODY) == {"id": "1", "kind": "test"}


def test_one_of_several_signatures_is_enough():
    rotated = headers()
    rotated["webhook-signature"] = f"v1,b3RoZXI= {rotated['webhook-signature']}"
    assert client.verify_webhook(SECRET, rotated, BODY)["kind"] == "test"


def test_the_published_example_has_this_signature():
    """The example of the Standard Webhooks libraries."""
    signed = signed_headers(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signed["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize(
    ("sent", "body"),
    [
        (headers(new_secret()), BODY),
        (headers(), BODY + b" "),
        (headers(age_s=301), BODY),
        (headers(age_s=-90_000), BODY),
        (headers() | {"webhook-id": "2"}, BODY),
        (headers() | {"webhook-timestamp": "soon"}, BODY),
        (headers() | {"webhook-signature": "v1,ä"}, BODY),
        ({}, BODY),
    ],
    ids=["secret", "body", "old", "future", "id", "time", "letters", "nothing"],
)
def test_any_other_request_is_refused(sent, body):
    with pytest.raises(client.WebhookRefused):
        client.verify_webhook(SECRET, sent, body)
