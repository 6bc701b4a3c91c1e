"""Keys of endpoints: encrypted in the database, or in the environment of the worker; never shown again."""

import base64
import os
import re

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.errors import DomainError
from annotation.permissions import Permission, require
from scoring.asking.addresses import NO_KEY, is_nearby, same_address
from scoring.asking.request import Address
from scoring.contract import EvaluatorError
from scoring.models import Endpoint

LONGEST_KEY = 2000  # characters
_KEY = re.compile(r"[!-~]+")
"""What can stand in a header. Libraries quote a header that they refuse, key and all."""
_FIELDS = ["encrypted_key", "key_set_at"]


def set_key(endpoint: Endpoint, key: str, user: User) -> None:
    """Keep the key, encrypted, in place of any other. White space around it is left out.

    Raises DomainError, without the key in it, for what no header can carry; what `require` raises.
    """
    require(user, endpoint.project, Permission.MANAGE_PROJECT)
    key = key.strip()
    if not _KEY.fullmatch(key) or len(key) > LONGEST_KEY:
        raise DomainError(
            f"This cannot be a key: found {len(key):,} characters, expected 1 to {LONGEST_KEY:,} letters, "
            "digits and signs of ASCII, without white space."
        )
    endpoint.encrypted_key = _fernet().encrypt(key.encode()).decode()
    endpoint.key_set_at = timezone.now()
    endpoint.save(update_fields=_FIELDS)


def remove_key(endpoint: Endpoint, user: User) -> None:
    """Forget the key: from now on the environment of the workers has to have one."""
    require(user, endpoint.project, Permission.MANAGE_PROJECT)
    endpoint.encrypted_key, endpoint.key_set_at = "", None
    endpoint.save(update_fields=_FIELDS)


def key_for(project_id: int, address: Address) -> str:
    """The key that the project keeps for this very address, else the worker's own.

    NO_KEY if there is none and the endpoint is nearby. Raises EvaluatorError, permanent, if there is none for
    another one, or it cannot be read; the key is never in it.
    """
    base_url = same_address(address.base_url)
    endpoint = (
        Endpoint.objects.filter(project=project_id, base_url=base_url).exclude(encrypted_key="").first()
    )
    if endpoint is not None:
        return _decrypted(endpoint)
    key = os.environ.get(address.api_key_env, "")
    if not key and is_nearby(base_url):
        return NO_KEY
    if not key:
        raise EvaluatorError(
            f"there is no key for {base_url}: the project keeps none, and the worker's environment variable "
            f"{address.api_key_env} is not set (any text will do for an endpoint that asks for no key)",
            permanent=True,
        )
    if not _KEY.fullmatch(key):
        raise EvaluatorError(
            f"the environment variable {address.api_key_env} holds no key: white space or other characters "
            "that no header can carry",
            permanent=True,
        )
    return key


def _decrypted(endpoint: Endpoint) -> str:
    try:
        return _fernet().decrypt(endpoint.encrypted_key.encode()).decode()
    except InvalidToken:
        raise EvaluatorError(
            f"the key kept for {endpoint.base_url} cannot be decrypted: it was encrypted under another "
            "ENDPOINT_KEYS_SECRET or SECRET_KEY. Enter it anew on the project's page of endpoints.",
            permanent=True,
        ) from None


def _fernet() -> Fernet:
    secret = settings.ENDPOINT_KEYS_SECRET or settings.SECRET_KEY
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"touchstone: keys of endpoints")
    return Fernet(base64.urlsafe_b64encode(derived.derive(secret.encode())))
