"""Signatures as the Standard Webhooks specification (https://www.standardwebhooks.com) has them."""

import base64
import hashlib
import hmac
import secrets

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    """Return a random secret as its owner enters it at the receiver."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signed_headers(secret: str, uid: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers that prove to the receiver who sent the body and when (seconds since 1970)."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    digest = hmac.new(key, f"{uid}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return {
        "webhook-id": uid,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
