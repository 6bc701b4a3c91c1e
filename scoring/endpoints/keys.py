"""Keys of endpoints: encrypted in the database, or in the environment of the worker; never shown again."""

import base64

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.errors import DomainError
from annotation.permissions import Permission, require
from scoring.asking.addresses import same_address
from scoring.asking.request import Address
from scoring.asking.talking import KEY, secret_of
from scoring.contract import EvaluatorError
from scoring.models import Endpoint

LONGEST_KEY = 2000  # characters
_FIELDS = ["encrypted_key", "key_set_at"]


def set_key(endpoint: Endpoint, key: str, user: User) -> None:
    """Keep the key, encrypted, in place of any other. White space around it is left out.

    Raises DomainError, without the key in it, for what no header can carry; what `require` raises.
    """
    require(user, endpoint.project, Permission.MANAGE_PROJECT)
    key = key.strip()
    if not KEY.fullmatch(key) or len(key) > LONGEST_KEY:
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
    """The key that the project keeps for this very address, else the worker's own (see `secret_of`).

    Raises EvaluatorError, permanent, where there is none or it cannot be read; the key is never in it.
    """
    kept = Endpoint.objects.filter(project=project_id, base_url=same_address(address.base_url))
    endpoint = kept.exclude(encrypted_key="").first()
    if endpoint is not None:
        return _decrypted(endpoint)
    try:
        return secret_of(address, None)
    except EvaluatorError as error:
        raise EvaluatorError(f"{error}; nor does the project keep one", permanent=True) from None


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
